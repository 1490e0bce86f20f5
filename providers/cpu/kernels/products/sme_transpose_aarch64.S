// Rows become columns through the tiles of ZA, which are written by rows and read by columns.
        .include "cpu/kernels/products/sme_streaming_aarch64.inc"

// A row of four tiles, whose k p0 to p3 bound, from x14 on.
.macro load_row slice
        ld1w    {za0h.s[w12, #\slice]}, p0/z, [x14]
        ld1w    {za1h.s[w12, #\slice]}, p1/z, [x14, x8, lsl #2]
        ld1w    {za2h.s[w12, #\slice]}, p2/z, [x14, x9, lsl #2]
        ld1w    {za3h.s[w12, #\slice]}, p3/z, [x14, x10, lsl #2]
        add     x14, x14, x1
.endm

.macro store_column tile, slice
        st1w    {za\tile\()v.s[w12, #\slice]}, p4, [x15]
        add     x15, x15, x6
.endm

// A column of each tile, x17 floats from where the first columns of the tiles go.
.macro store_columns slice
        st1w    {za0v.s[w12, #\slice]}, p4, [x15, x17, lsl #2]
        st1w    {za1v.s[w12, #\slice]}, p4, [x16, x17, lsl #2]
        st1w    {za2v.s[w12, #\slice]}, p4, [x20, x17, lsl #2]
        st1w    {za3v.s[w12, #\slice]}, p4, [x13, x17, lsl #2]
        add     x17, x17, x19
.endm

// The columns of a tile, of which x16 are left.
.macro store_tile tile
        mov     w12, #0
        cmp     x16, x8
        csel    x17, x16, x8, lt
        sub     x16, x16, x17
        subs    x17, x17, #4
        b.lt    2f
1:      store_column \tile, 0
        store_column \tile, 1
        store_column \tile, 2
        store_column \tile, 3
        add     w12, w12, #4
        subs    x17, x17, #4
        b.ge    1b
2:      adds    x17, x17, #4
        b.eq    4f
3:      store_column \tile, 0
        add     w12, w12, #1
        subs    x17, x17, #1
        b.ne    3b
4:      cbz     x16, .Lnext_k
.endm

// void ortolan_sme_transpose(const float* from, int64_t from_bytes, int64_t rows, int64_t k, int64_t width, float* to,
//                            int64_t to_bytes)
// to[i][j] = from[j][i] for j < rows and 0 for the others below width; i < k; neither k nor width is 0. Rows of `from`
// and `to` are so many bytes apart.
begin_function ortolan_sme_transpose
        stp     x19, x20, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        str     x21, [sp, #16]
        .cfi_offset 19, -32
        .cfi_offset 20, -24
        .cfi_offset 21, -16
        enter_streaming
        cntw    x8
        lsr     x19, x6, #2             // floats between rows of `to`
        mul     x21, x6, x8             // bytes between tiles of it
        lsl     x9, x8, #1
        add     x10, x8, x9
        mov     x7, #0                  // the first column of a vector of columns
.Lcolumns:
        whilelt p4.s, x7, x4
        mov     x11, #0                 // the first of four vectors of k
.Lk:    whilelt p0.s, x11, x3
        add     x16, x11, x8
        whilelt p1.s, x16, x3
        add     x16, x16, x8
        whilelt p2.s, x16, x3
        add     x16, x16, x8
        whilelt p3.s, x16, x3
        zero    {za}
        add     x14, x0, x11, lsl #2
        mov     w12, #0
        cmp     x2, x8
        csel    x17, x2, x8, lt         // rows of these columns
        subs    x17, x17, #4
        b.lt    2f
1:      load_row 0
        load_row 1
        load_row 2
        load_row 3
        add     w12, w12, #4
        subs    x17, x17, #4
        b.ge    1b
2:      adds    x17, x17, #4
        b.le    4f
3:      load_row 0
        add     w12, w12, #1
        subs    x17, x17, #1
        b.ne    3b
4:      madd    x15, x11, x6, x5
        sub     x16, x3, x11
        cmp     x16, x8, lsl #2
        b.lt    .Lpart
        add     x16, x15, x21
        add     x20, x16, x21
        add     x13, x20, x21
        mov     x17, #0
        mov     w12, #0
5:      store_columns 0
        store_columns 1
        store_columns 2
        store_columns 3
        add     w12, w12, #4
        cmp     x12, x8
        b.lt    5b
        b       .Lnext_k
.Lpart:
        store_tile 0
        store_tile 1
        store_tile 2
        store_tile 3
.Lnext_k:
        add     x11, x11, x8, lsl #2
        cmp     x11, x3
        b.lt    .Lk
        madd    x0, x1, x8, x0
        sub     x2, x2, x8
        add     x5, x5, x8, lsl #2
        add     x7, x7, x8
        cmp     x7, x4
        b.lt    .Lcolumns
        leave_streaming
        ldr     x21, [sp, #16]
        ldp     x19, x20, [sp], #32
        .cfi_adjust_cfa_offset -32
        .cfi_restore 19
        .cfi_restore 20
        .cfi_restore 21
        ret
end_function ortolan_sme_transpose
