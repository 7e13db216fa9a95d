//! Classifies 64 bytes: one mask for each class, with the lowest bit for the first byte.
//!
//! Four implementations give the same masks. SSE2 and NEON belong to every x86-64 and `AArch64`, so
//! only AVX2 has to be detected.

/// The number of bytes in a mask.
pub(super) const LENGTH: usize = 64;

/// The classes of 64 bytes that parsing needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) backslash: u64,
    pub(super) quote: u64,
    /// `{` and `[`
    pub(super) open: u64,
    /// `}` and `]`
    pub(super) close: u64,
    /// The brackets, `:` and `,`. On x86-64 also two control characters that simdjson takes for the
    /// latter: it sets bit 5 of each byte first, to treat a bracket and a brace alike.
    pub(super) sign: u64,
    /// Neither signs nor JSON's space.
    pub(super) scalar: u64,
    /// All bytes below the space.
    pub(super) control: u64,
    pub(super) is_ascii: bool,
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{classify, classify_avx2};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use core::arch::x86_64::{
        __m128i, __m256i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_max_epu8, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_shuffle_epi8,
    };

    use super::{Classes, LENGTH};

    #[inline]
    #[target_feature(enable = "sse2")]
    fn mask(parts: [__m128i; 4], of: impl Fn(__m128i) -> __m128i) -> u64 {
        let bits = |part: usize| {
            let bits = _mm_movemask_epi8(of(parts[part])).cast_unsigned();
            u64::from(bits) << (16 * part)
        };
        bits(0) | bits(1) | bits(2) | bits(3)
    }

    /// Classifies with SSE2.
    #[inline]
    pub(in super::super) fn classify(block: &[u8; LENGTH]) -> Classes {
        // SAFETY: SSE2 belongs to every x86-64 that has the standard library.
        unsafe { classify_sse2(block) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn classify_sse2(block: &[u8; LENGTH]) -> Classes {
        let (parts, _) = block.as_chunks::<16>();
        // SAFETY: the load is of 16 bytes, and needs no alignment.
        let load = |part: usize| unsafe { _mm_loadu_si128(parts[part].as_ptr().cast()) };
        let parts = [load(0), load(1), load(2), load(3)];
        let is = |part, byte: u8| _mm_cmpeq_epi8(part, _mm_set1_epi8(byte.cast_signed()));
        let or = |one, other| _mm_or_si128(one, other);
        let curly = |part| or(part, _mm_set1_epi8(0x20));
        let open = |part| is(curly(part), b'{');
        let close = |part| is(curly(part), b'}');
        let sign = |part| {
            let separator = or(is(curly(part), b':'), is(curly(part), b','));
            or(separator, or(open(part), close(part)))
        };
        let space = |part| {
            let blank = or(is(part, b' '), is(part, b'\t'));
            or(blank, or(is(part, b'\n'), is(part, b'\r')))
        };
        let last = _mm_set1_epi8(0x1F);
        Classes {
            backslash: mask(parts, |part| is(part, b'\\')),
            quote: mask(parts, |part| is(part, b'"')),
            open: mask(parts, open),
            close: mask(parts, close),
            sign: mask(parts, sign),
            scalar: !mask(parts, |part| or(sign(part), space(part))),
            is_ascii: _mm_movemask_epi8(or(or(parts[0], parts[1]), or(parts[2], parts[3]))) == 0,
            control: mask(parts, |part| _mm_cmpeq_epi8(_mm_max_epu8(part, last), last)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn wide_mask(parts: [__m256i; 2], of: impl Fn(__m256i) -> __m256i) -> u64 {
        let bits = |part: usize| u64::from(_mm256_movemask_epi8(of(parts[part])).cast_unsigned());
        bits(0) | bits(1) << 32
    }

    /// A table to be looked up by the low four bits of a byte below 128.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn table(bytes: [u8; 16]) -> __m256i {
        // SAFETY: the load is of 16 bytes, and needs no alignment.
        let half = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
        _mm256_broadcastsi128_si256(half)
    }

    /// Classifies with AVX2, about twice as fast.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in super::super) fn classify_avx2(block: &[u8; LENGTH]) -> Classes {
        let (parts, _) = block.as_chunks::<32>();
        // SAFETY: the load is of 32 bytes, and needs no alignment.
        let load = |part: usize| unsafe { _mm256_loadu_si256(parts[part].as_ptr().cast()) };
        let parts = [load(0), load(1)];
        let is = |part, byte: u8| _mm256_cmpeq_epi8(part, _mm256_set1_epi8(byte.cast_signed()));
        let curly = |part| _mm256_or_si256(part, _mm256_set1_epi8(0x20));
        // No two spaces have the same low four bits, and no two signs as `curly` makes them. Unused
        // entries are 0, which is no byte with these bits, or is no sign.
        let spaces = table([
            0x20, 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0,
        ]);
        let signs = table([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0]);
        let space = |part| _mm256_cmpeq_epi8(part, _mm256_shuffle_epi8(spaces, part));
        let sign = |part| {
            let part = curly(part);
            _mm256_cmpeq_epi8(part, _mm256_shuffle_epi8(signs, part))
        };
        let last = _mm256_set1_epi8(0x1F);
        Classes {
            backslash: wide_mask(parts, |part| is(part, b'\\')),
            quote: wide_mask(parts, |part| is(part, b'"')),
            open: wide_mask(parts, |part| is(curly(part), b'{')),
            close: wide_mask(parts, |part| is(curly(part), b'}')),
            sign: wide_mask(parts, sign),
            scalar: !wide_mask(parts, |part| _mm256_or_si256(sign(part), space(part))),
            is_ascii: _mm256_movemask_epi8(_mm256_or_si256(parts[0], parts[1])) == 0,
            control: wide_mask(parts, |part| {
                _mm256_cmpeq_epi8(_mm256_max_epu8(part, last), last)
            }),
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) use aarch64::classify;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod aarch64 {
    use core::arch::aarch64::{
        uint8x16_t, vandq_u8, vceqq_u8, vcltq_u8, vcombine_u8, vcreate_u8, vdupq_n_u8,
        vgetq_lane_u64, vld1q_u8, vmaxvq_u8, vorrq_u8, vpaddq_u8, vreinterpretq_u64_u8,
    };

    use super::{Classes, LENGTH};

    #[inline]
    #[target_feature(enable = "neon")]
    fn mask(parts: [uint8x16_t; 4], of: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
        // Bit n in lane n of eight, so that adding neighbours three times gathers eight lanes in
        // one.
        let powers = vcreate_u8(0x8040_2010_0804_0201);
        let powers = vcombine_u8(powers, powers);
        let bits = |part: usize| vandq_u8(of(parts[part]), powers);
        let low = vpaddq_u8(bits(0), bits(1));
        let high = vpaddq_u8(bits(2), bits(3));
        let all = vpaddq_u8(low, high);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(all, all)))
    }

    /// Classifies with NEON.
    #[inline]
    pub(in super::super) fn classify(block: &[u8; LENGTH]) -> Classes {
        // SAFETY: NEON belongs to every AArch64 that has the standard library.
        unsafe { classify_neon(block) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn classify_neon(block: &[u8; LENGTH]) -> Classes {
        let (parts, _) = block.as_chunks::<16>();
        // SAFETY: the load is of 16 bytes, and needs no alignment.
        let load = |part: usize| unsafe { vld1q_u8(parts[part].as_ptr()) };
        let parts = [load(0), load(1), load(2), load(3)];
        let is = |part, byte| vceqq_u8(part, vdupq_n_u8(byte));
        let or = |one, other| vorrq_u8(one, other);
        let curly = |part| or(part, vdupq_n_u8(0x20));
        let open = |part| is(curly(part), b'{');
        let close = |part| is(curly(part), b'}');
        let sign = |part| {
            let separator = or(is(curly(part), b':'), is(curly(part), b','));
            or(separator, or(open(part), close(part)))
        };
        let space = |part| {
            let blank = or(is(part, b' '), is(part, b'\t'));
            or(blank, or(is(part, b'\n'), is(part, b'\r')))
        };
        Classes {
            backslash: mask(parts, |part| is(part, b'\\')),
            quote: mask(parts, |part| is(part, b'"')),
            open: mask(parts, open),
            close: mask(parts, close),
            sign: mask(parts, sign),
            scalar: !mask(parts, |part| or(sign(part), space(part))),
            is_ascii: vmaxvq_u8(or(or(parts[0], parts[1]), or(parts[2], parts[3]))) < 0x80,
            control: mask(parts, |part| vcltq_u8(part, vdupq_n_u8(0x20))),
        }
    }
}

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
)))]
pub(super) use classify_plain as classify;

/// Classifies byte by byte.
#[cfg(any(
    test,
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))
))]
pub(super) fn classify_plain(block: &[u8; LENGTH]) -> Classes {
    fn is_sign(byte: u8) -> bool {
        matches!(byte | 0x20, b'{' | b'}' | b':' | b',')
    }
    let mask = |is: fn(u8) -> bool| {
        let bits = block.iter().rev();
        bits.fold(0, |mask, byte| mask << 1 | u64::from(is(*byte)))
    };
    Classes {
        backslash: mask(|byte| byte == b'\\'),
        quote: mask(|byte| byte == b'"'),
        open: mask(|byte| matches!(byte, b'{' | b'[')),
        close: mask(|byte| matches!(byte, b'}' | b']')),
        sign: mask(is_sign),
        scalar: mask(|byte| !is_sign(byte) && !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')),
        is_ascii: block.is_ascii(),
        control: mask(|byte| byte < b' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_implementations_classify_each_byte_alike() {
        for byte in 0..=u8::MAX {
            for place in 0..LENGTH {
                for filling in [b' ', byte] {
                    let mut block = [filling; LENGTH];
                    block[place] = byte;
                    let plain = classify_plain(&block);
                    assert_eq!(classify(&block), plain, "{byte:#04x} at {place}");
                    #[cfg(target_arch = "x86_64")]
                    if is_x86_feature_detected!("avx2") {
                        // SAFETY: AVX2 is there.
                        let classes = unsafe { classify_avx2(&block) };
                        assert_eq!(classes, plain, "{byte:#04x} at {place}");
                    }
                }
            }
        }
    }
}
