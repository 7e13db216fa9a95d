//! Latin-1 and UTF-16 to UTF-8 on processors with AVX2 but without AVX-512.
//!
//! Both conversions write each character with the maximum number of bytes, and then move together
//! the bytes that the text has. A table gives the order of the bytes for each pattern of lengths.
//! The idea is simdutf's. Its own code, compiled by GCC, takes 1.9 times as long for Latin-1, and
//! 1.25 times as long for UTF-16.

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{push_latin1, push_utf16};

/// Converts nothing: other processors have no AVX2.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn push_latin1(_bytes: &[u8], _out: &mut Vec<u8>) -> usize {
    0
}

/// Converts nothing: other processors have no AVX2.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn push_utf16(_units: &[u16], _out: &mut Vec<u8>) -> usize {
    0
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_load_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_and_si256,
        _mm256_blendv_epi8, _mm256_castsi256_si128, _mm256_cmpeq_epi16, _mm256_extracti128_si256,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_packs_epi16,
        _mm256_packus_epi16, _mm256_permute4x64_epi64, _mm256_set1_epi16, _mm256_slli_epi16,
        _mm256_srli_epi16, _mm256_storeu_si256, _mm256_testz_si256, _mm256_unpackhi_epi8,
        _mm256_unpackhi_epi16, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16,
    };

    /// Bytes of Latin-1 that are converted at a time.
    const BYTES: usize = 32;
    /// Units of UTF-16 that are converted at a time.
    const UNITS: usize = 16;
    /// The maximum number of bytes that either conversion writes at a time.
    const ROOM: usize = 64;

    /// Orders of 16 bytes.
    #[repr(align(16))]
    struct Orders([[u8; 16]; 256]);

    /// The orders for eight characters of one or two bytes, which have two bytes each in the
    /// source. Bit n of the index says that character n has two.
    static OF_TWO: Orders = orders(8, 2);

    /// The orders for four characters of one to three bytes, which have the last of four bytes each
    /// in the source. Bit 2n of the index says that character n has more than one byte, and bit
    /// 2n + 1 that it has three.
    static OF_THREE: Orders = orders(4, 3);

    /// Makes the orders for 16 bytes that hold `characters` of up to `maximum` bytes.
    const fn orders(characters: usize, maximum: usize) -> Orders {
        let mut all = [[0x80; 16]; 256];
        let mut index = 0;
        while index < 256 {
            let (mut to, mut character) = (0, 0);
            while character < characters {
                let bits = index >> (character * (maximum - 1));
                let has_two = bits & 1 == 1;
                let has_three = maximum == 3 && bits & 2 == 2;
                let end = (character + 1) * (16 / characters);
                // With two bytes a character begins at the first; with three it ends at the last.
                let (mut from, end) = match maximum {
                    2 => (end - 2, end - !has_two as usize),
                    _ => (end - 1 - has_two as usize - has_three as usize, end),
                };
                while from < end {
                    all[index][to] = from as u8;
                    to += 1;
                    from += 1;
                }
                character += 1;
            }
            index += 1;
        }
        Orders(all)
    }

    impl Orders {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn of(&self, index: u8) -> __m128i {
            let order = &self.0[usize::from(index)];
            // SAFETY: an order has 16 bytes, and all are aligned.
            unsafe { _mm_load_si128(std::ptr::from_ref(order).cast()) }
        }
    }

    /// Converts bytes from the beginning of `bytes`, appends them to `out` within its capacity, and
    /// returns their number. It stops near the end of either buffer. On processors without AVX2 it
    /// converts nothing.
    #[inline]
    pub(crate) fn push_latin1(bytes: &[u8], out: &mut Vec<u8>) -> usize {
        if !available() {
            return 0;
        }
        // SAFETY: the processor has the instructions.
        unsafe { push_latin1_avx2(bytes, out) }
    }

    /// Converts units as [`push_latin1`] converts bytes. It stops before a surrogate, too.
    #[inline]
    pub(crate) fn push_utf16(units: &[u16], out: &mut Vec<u8>) -> usize {
        if !available() {
            return 0;
        }
        // SAFETY: the processor has the instructions.
        unsafe { push_utf16_avx2(units, out) }
    }

    /// Returns true if the processor has the instructions.
    #[inline]
    fn available() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn push_latin1_avx2(bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let mut sink = Sink::new(out);
        let mut taken = 0;
        for piece in bytes.chunks_exact(BYTES) {
            if !sink.has_room() {
                break;
            }
            // SAFETY: the piece has 32 bytes.
            let text = unsafe { _mm256_loadu_si256(piece.as_ptr().cast()) };
            let two = _mm256_movemask_epi8(text).cast_unsigned();
            if two == 0 {
                sink.push_all(text);
            } else {
                sink.push_latin1(text, two);
            }
            taken += BYTES;
        }
        sink.end_in(out);
        taken
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn push_utf16_avx2(units: &[u16], out: &mut Vec<u8>) -> usize {
        let mut sink = Sink::new(out);
        let mut taken = 0;
        for piece in units.chunks_exact(UNITS) {
            if !sink.has_room() {
                break;
            }
            // SAFETY: the piece has 32 bytes.
            let text = unsafe { _mm256_loadu_si256(piece.as_ptr().cast()) };
            let high = _mm256_and_si256(text, word(0xF800));
            if _mm256_testz_si256(text, word(0xFF80)) == 1 {
                sink.push_ascii(text);
            } else if _mm256_testz_si256(high, high) == 1 {
                sink.push_short(text);
            } else {
                let surrogates = _mm256_cmpeq_epi16(high, word(0xD800));
                if _mm256_testz_si256(surrogates, surrogates) == 0 {
                    break;
                }
                sink.push_any(text, high);
            }
            taken += UNITS;
        }
        sink.end_in(out);
        taken
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn word(value: u16) -> __m256i {
        _mm256_set1_epi16(value.cast_signed())
    }

    /// The end of a vector. The caller makes sure that there are [`ROOM`] bytes of room before it
    /// appends a piece.
    struct Sink {
        start: *mut u8,
        room: usize,
        /// The number of bytes that were appended.
        len: usize,
    }

    impl Sink {
        #[inline]
        fn new(out: &mut Vec<u8>) -> Self {
            let spare = out.spare_capacity_mut();
            Self {
                start: spare.as_mut_ptr().cast(),
                room: spare.len(),
                len: 0,
            }
        }

        #[inline]
        fn has_room(&self) -> bool {
            self.len + ROOM <= self.room
        }

        /// Makes what was appended part of the vector that this is the end of.
        #[inline]
        fn end_in(self, out: &mut Vec<u8>) {
            // SAFETY: all these bytes were written within the capacity.
            unsafe { out.set_len(out.len() + self.len) };
        }

        /// Appends 32 bytes.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn push_all(&mut self, bytes: __m256i) {
            // SAFETY: there is room for 64 bytes.
            unsafe { _mm256_storeu_si256(self.start.add(self.len).cast(), bytes) };
            self.len += 32;
        }

        /// Appends the first `count` of 16 bytes. A piece has at most four times 16.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn push(&mut self, bytes: __m128i, count: usize) {
            // SAFETY: there is room for 64 bytes before a piece.
            unsafe { _mm_storeu_si128(self.start.add(self.len).cast(), bytes) };
            self.len += count;
        }

        /// Appends eight characters of one or two bytes. Bit n of `two` says that character n has
        /// two.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn push_of_two(&mut self, characters: __m128i, two: u8) {
            let bytes = _mm_shuffle_epi8(characters, OF_TWO.of(two));
            self.push(bytes, 8 + two.count_ones() as usize);
        }

        /// Appends four characters of one to three bytes.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn push_of_three(&mut self, characters: __m128i, lengths: u8) {
            let bytes = _mm_shuffle_epi8(characters, OF_THREE.of(lengths));
            self.push(bytes, 4 + lengths.count_ones() as usize);
        }

        /// Appends 32 bytes of Latin-1. Bit n of `two` says that byte n is not ASCII.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn push_latin1(&mut self, text: __m256i, two: u32) {
            // The first of two bytes is 0xC2 or 0xC3, as bit 6 is 0 or 1.
            let bit = _mm256_and_si256(_mm256_srli_epi16::<6>(text), word(0x0101));
            let first = _mm256_blendv_epi8(text, _mm256_or_si256(bit, word(0xC2C2)), text);
            let second = _mm256_and_si256(text, word(0xBFBF));
            let even = _mm256_unpacklo_epi8(first, second);
            let odd = _mm256_unpackhi_epi8(first, second);
            let [a, b, c, d] = two.to_le_bytes();
            self.push_of_two(_mm256_castsi256_si128(even), a);
            self.push_of_two(_mm256_castsi256_si128(odd), b);
            self.push_of_two(_mm256_extracti128_si256::<1>(even), c);
            self.push_of_two(_mm256_extracti128_si256::<1>(odd), d);
        }

        /// Appends sixteen units of ASCII.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn push_ascii(&mut self, units: __m256i) {
            let bytes = _mm256_packus_epi16(units, units);
            let bytes = _mm256_permute4x64_epi64::<0b1000>(bytes);
            self.push(_mm256_castsi256_si128(bytes), 16);
        }

        /// Appends sixteen units below U+0800.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn push_short(&mut self, units: __m256i) {
            let ascii = _mm256_cmpeq_epi16(_mm256_and_si256(units, word(0xFF80)), word(0));
            // 0xC0 and bits 6 to 10, then 0x80 and bits 0 to 5.
            let last = _mm256_slli_epi16::<8>(_mm256_and_si256(units, word(0x003F)));
            let both = _mm256_or_si256(_mm256_srli_epi16::<6>(units), last);
            let two = _mm256_or_si256(both, word(0x80C0));
            let characters = _mm256_blendv_epi8(two, units, ascii);
            let lengths = _mm256_packs_epi16(ascii, ascii);
            let [a, _, b, _] = (!_mm256_movemask_epi8(lengths)).to_le_bytes();
            self.push_of_two(_mm256_castsi256_si128(characters), a);
            self.push_of_two(_mm256_extracti128_si256::<1>(characters), b);
        }

        /// Appends sixteen units that are no surrogates. `high` has their bits 11 to 15.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn push_any(&mut self, units: __m256i, high: __m256i) {
            let ascii = _mm256_cmpeq_epi16(_mm256_and_si256(units, word(0xFF80)), word(0));
            let short = _mm256_cmpeq_epi16(high, word(0));
            // The second byte is the first of three: 0xE0 and bits 12 to 15.
            let lead = _mm256_or_si256(_mm256_srli_epi16::<4>(high), word(0xE000));
            // 0x80 and bits 6 to 11, or 0xC0 if there are two bytes, and then 0x80 and bits 0 to 5.
            let middle = _mm256_and_si256(_mm256_srli_epi16::<6>(units), word(0x003F));
            let last = _mm256_slli_epi16::<8>(units);
            let both = _mm256_or_si256(middle, _mm256_and_si256(last, word(0x3F00)));
            let marks = _mm256_or_si256(_mm256_and_si256(short, word(0x0040)), word(0x8080));
            let rest = _mm256_blendv_epi8(_mm256_or_si256(both, marks), last, ascii);
            let even = _mm256_unpacklo_epi16(lead, rest);
            let odd = _mm256_unpackhi_epi16(lead, rest);
            // For each unit one bit from `ascii` and one from `short`.
            let lengths = _mm256_blendv_epi8(ascii, short, word(0xFF00));
            let [a, b, c, d] = (!_mm256_movemask_epi8(lengths)).to_le_bytes();
            self.push_of_three(_mm256_castsi256_si128(even), a);
            self.push_of_three(_mm256_castsi256_si128(odd), b);
            self.push_of_three(_mm256_extracti128_si256::<1>(even), c);
            self.push_of_three(_mm256_extracti128_si256::<1>(odd), d);
        }
    }
}
