/*
 * UTF-16 to UTF-8 with AVX-512 (VBMI2), for the text of most files: no surrogates.
 *
 * Each character is spread over the bytes that it may take, the unused bytes are removed (vpcompressb), and the
 * whole register is stored. The room behind the result makes that safe. A masked store needs no such room, but takes
 * several times as long on AMD's Zen 4. Rust has these instructions from 1.89 on.
 */

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>

#if defined(__GNUC__) || defined(__clang__)
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")))
#else
#define WIDE
#endif

/* Units in a block, and bytes of room that a block may touch. */
enum { BLOCK = 32, ROOM = BLOCK * 3 + 64 };

/* Stores the UTF-8 of sixteen characters in 32-bit lanes, and returns its end. */
WIDE static inline uint8_t *store16(__m512i character, uint8_t *out)
{
    const __mmask16 beyond_ascii = _mm512_cmpge_epu32_mask(character, _mm512_set1_epi32(0x80));
    const __mmask16 three = _mm512_cmpge_epu32_mask(character, _mm512_set1_epi32(0x800));
    /* Bytes 0, 1 and 2 of a lane hold the character from bit 12, 6 and 0 on. */
    const __m512i spread =
        _mm512_multishift_epi64_epi8(_mm512_set1_epi64(0x2020262c0000060c), character);
    const __m512i tags = _mm512_mask_mov_epi32(_mm512_set1_epi32(0x0080c000), three, _mm512_set1_epi32(0x008080e0));
    /* (spread & 0x3f3f0f) | tags; ASCII stays as it is in byte 2. */
    const __m512i bytes = _mm512_mask_ternarylogic_epi32(
        spread, beyond_ascii, _mm512_set1_epi32(0x003f3f0f), tags, 0xea);
    __m512i kept = _mm512_mask_mov_epi32(_mm512_set1_epi32(0x00800000), beyond_ascii, _mm512_set1_epi32(0x00808000));
    kept = _mm512_mask_mov_epi32(kept, three, _mm512_set1_epi32(0x00808080));
    const __mmask64 mask = _mm512_movepi8_mask(kept);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(mask, bytes));
    return out + _mm_popcnt_u64(_cvtmask64_u64(mask));
}

/* Stores the UTF-8 of a full register of characters below 0x800 in 16-bit lanes, and returns its end. */
WIDE static inline uint8_t *store32(__m512i character, uint8_t *out)
{
    const __mmask32 beyond_ascii = _mm512_cmpge_epu16_mask(character, _mm512_set1_epi16(0x80));
    /* Low byte: the character from bit 6 on under 0xc0. High byte: its low six bits under 0x80. */
    const __m512i low_six = _mm512_and_si512(_mm512_slli_epi16(character, 8), _mm512_set1_epi16(0x3f00));
    const __m512i two = _mm512_ternarylogic_epi32(
        low_six, _mm512_srli_epi16(character, 6), _mm512_set1_epi16((short)0x80c0), 0xfe);
    const __m512i bytes = _mm512_mask_mov_epi16(character, beyond_ascii, two);
    const uint64_t mask = 0x5555555555555555 | _pdep_u64(_cvtmask32_u32(beyond_ascii), 0xaaaaaaaaaaaaaaaa);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(_cvtu64_mask64(mask), bytes));
    return out + BLOCK + _mm_popcnt_u32(_cvtmask32_u32(beyond_ascii));
}

/*
 * Converts blocks of UTF-16 until one holds a surrogate, fewer than a block are left, or the room gets short.
 * Returns the number of converted units; *written is the number of bytes.
 */
WIDE size_t smallfry_utf16_to_utf8_avx512(const uint16_t *units, size_t count, uint8_t *out, size_t room, size_t *written)
{
    const uint16_t *unit = units;
    const uint16_t *const last = units + (count - count % BLOCK);
    uint8_t *end = out;
    while (unit != last && (size_t)(end - out) + ROOM <= room) {
        const __m512i block = _mm512_loadu_si512(unit);
        if (_mm512_testn_epi16_mask(block, _mm512_set1_epi16((short)0xff80)) == 0xffffffff) {
            _mm256_storeu_si256((__m256i *)end, _mm512_cvtepi16_epi8(block));
            end += BLOCK;
        } else if (_mm512_testn_epi16_mask(block, _mm512_set1_epi16((short)0xf800)) == 0xffffffff) {
            end = store32(block, end);
        } else {
            const __m512i top = _mm512_and_si512(block, _mm512_set1_epi16((short)0xf800));
            if (_mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16((short)0xd800)) != 0) {
                break;
            }
            end = store16(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(block)), end);
            end = store16(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(block, 1)), end);
        }
        unit += BLOCK;
    }
    *written = (size_t)(end - out);
    return (size_t)(unit - units);
}
#endif
