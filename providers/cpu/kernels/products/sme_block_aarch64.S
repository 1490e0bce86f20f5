// A block of an fp32 product by outer products (SME): the sums of two vectors of rows times two of columns are the four
// tiles of ZA, whose length the processor gives. gemm_sme_body.h says what is handed over, and calls.
        .include "cpu/kernels/products/sme_streaming_aarch64.inc"

// Members of SmeBlock.
        .equ    kA, 0
        .equ    kATile, 8
        .equ    kB, 16
        .equ    kBStep, 24
        .equ    kBRows, 32
        .equ    kK, 40
        .equ    kRows, 48
        .equ    kColumns, 56
        .equ    kC, 64
        .equ    kCStep, 72
        .equ    kColumnBias, 80
        .equ    kRowBias, 88
        .equ    kResidual, 96
        .equ    kResidualStep, 104
        .equ    kAlpha, 112
        .equ    kCScale, 116
        .equ    kShift, 120
        .equ    kLow, 124
        .equ    kHigh, 128
        .equ    kSteps, 132

// Bits of kSteps.
        .equ    kHasAlpha, 0
        .equ    kHasCScale, 1
        .equ    kHasColumnBias, 2
        .equ    kHasRowBias, 3
        .equ    kHasShift, 4
        .equ    kHasResidual, 5
        .equ    kHasClamp, 6

// Registers that stay while a block is computed: x0 SmeBlock, x1 A's tile, x2 B, x3 k, x4 B's step in floats,
// x5 B's rows, x6 C, x7 C's step, w8 steps, x9 row bias, x10 residual, x11 its step, x13 rows left, x20 floats in a
// vector; p0 all, p1 and p2 the columns of each vector; z24 alpha, z25 C's scale, z26 and z27 the bias of columns,
// z28 shift, z29 low, z30 high.

// ---------------------------------------------------------------------------------------------------------- sums

// The vectors of A at the k that lies `at` further; `rows` vectors of them are wanted.
.macro load_a rows, at, first, second
        ld1w    {z\first\().s}, p0/z, [x14, #2*(\at), mul vl]
    .if \rows == 2
        ld1w    {z\second\().s}, p0/z, [x14, #2*(\at)+1, mul vl]
    .endif
.endm

// Those of B. Beside each other; else x17 says how many floats from x15 (and x16, a vector further) on a row begins.
.macro load_b form, vectors, at, first, second
    .ifc \form, beside
        ld1w    {z\first\().s}, p1/z, [x15, #\vectors*(\at), mul vl]
      .if \vectors == 2
        ld1w    {z\second\().s}, p2/z, [x15, #\vectors*(\at)+1, mul vl]
      .endif
    .else
      .ifc \form, listed
        ldr     x17, [x19], #8
      .endif
        ld1w    {z\first\().s}, p1/z, [x15, x17, lsl #2]
      .if \vectors == 2
        ld1w    {z\second\().s}, p2/z, [x16, x17, lsl #2]
      .endif
      .ifc \form, apart
        add     x17, x17, x4
      .endif
    .endif
.endm

.macro add_products rows, vectors, a0, a1, b0, b1
        fmopa   za0.s, p0/m, p0/m, z\a0\().s, z\b0\().s
    .if \vectors == 2
        fmopa   za1.s, p0/m, p0/m, z\a0\().s, z\b1\().s
    .endif
    .if \rows == 2
        fmopa   za2.s, p0/m, p0/m, z\a1\().s, z\b0\().s
      .if \vectors == 2
        fmopa   za3.s, p0/m, p0/m, z\a1\().s, z\b1\().s
      .endif
    .endif
.endm

// Four k, from the one on that lies `at` further.
.macro load_four form, rows, vectors, at
        load_a  \rows, \at, 0, 1
        load_b  \form, \vectors, \at, 2, 3
        load_a  \rows, \at+1, 4, 5
        load_b  \form, \vectors, \at+1, 6, 7
        load_a  \rows, \at+2, 16, 17
        load_b  \form, \vectors, \at+2, 18, 19
        load_a  \rows, \at+3, 20, 21
        load_b  \form, \vectors, \at+3, 22, 23
.endm
.macro add_four rows, vectors
        add_products \rows, \vectors, 0, 1, 2, 3
        add_products \rows, \vectors, 4, 5, 6, 7
        add_products \rows, \vectors, 16, 17, 18, 19
        add_products \rows, \vectors, 20, 21, 22, 23
.endm

// Eight k of vectors beside each other, where pointers are those of the fifth.
.macro add_eight rows, vectors
        load_four beside, \rows, \vectors, -4
        add_four \rows, \vectors
        load_four beside, \rows, \vectors, 0
        add_four \rows, \vectors
        addvl   x14, x14, #16
        addvl   x15, x15, #8*\vectors
.endm

// Each sum is made in the order of k.
.macro sum_tile form, rows, vectors
        zero    {za}
        mov     x14, x1
        mov     x15, x2
        mov     x16, x2
        addvl   x16, x16, #1
        mov     x17, xzr
        mov     x19, x5
        subs    x12, x3, #4
        b.lt    2f
    .ifc \form, beside
        subs    x12, x12, #12
        b.lt    6f
        addvl   x14, x14, #8
        addvl   x15, x15, #4*\vectors
5:      add_eight \rows, \vectors
        add_eight \rows, \vectors
        subs    x12, x12, #16
        b.ge    5b
        addvl   x14, x14, #-8
        addvl   x15, x15, #-4*\vectors
6:      adds    x12, x12, #12
        b.lt    2f
    .endif
1:      load_four \form, \rows, \vectors, 0
        add_four \rows, \vectors
        addvl   x14, x14, #8
    .ifc \form, beside
        addvl   x15, x15, #4*\vectors
    .endif
        subs    x12, x12, #4
        b.ge    1b
2:      adds    x12, x12, #4
        b.eq    4f
3:      load_a  \rows, 0, 0, 1
        load_b  \form, \vectors, 0, 2, 3
        add_products \rows, \vectors, 0, 1, 2, 3
        addvl   x14, x14, #2
    .ifc \form, beside
        addvl   x15, x15, #\vectors
    .endif
        subs    x12, x12, #1
        b.ne    3b
4:
.endm

// -------------------------------------------------------------------------------------------------------- finish

// An operation on the sums `s` of a row's vector: `t` is free; they are of that tile, row and column of vectors, which
// C and the residual have beside the rows' beginnings.
.macro take s, t, tile, row, column, columns, c, residual
        mova    z\s\().s, p0/m, za\tile\()h.s[w12, #\row]
.endm
.macro scale s, t, tile, row, column, columns, c, residual
        fmul    z\s\().s, z\s\().s, z24.s
.endm
.macro add_before s, t, tile, row, column, columns, c, residual
        ld1w    {z\t\().s}, \columns/z, [\c, #\column, mul vl]
        fmla    z\s\().s, p0/m, z\t\().s, z25.s
.endm
.macro add_column_bias s, t, tile, row, column, columns, c, residual
    .if \column == 0
        fadd    z\s\().s, z\s\().s, z26.s
    .else
        fadd    z\s\().s, z\s\().s, z27.s
    .endif
.endm
.macro add_row_bias s, t, tile, row, column, columns, c, residual
        ld1rw   {z\t\().s}, p0/z, [x9, #4*\row]
        fadd    z\s\().s, z\s\().s, z\t\().s
.endm
.macro add_shift s, t, tile, row, column, columns, c, residual
        fadd    z\s\().s, z\s\().s, z28.s
.endm
.macro add_residual s, t, tile, row, column, columns, c, residual
        ld1w    {z\t\().s}, \columns/z, [\residual, #\column, mul vl]
        fadd    z\s\().s, z\s\().s, z\t\().s
.endm
// NaN stays, as it does where compilers compare and select.
.macro clamp s, t, tile, row, column, columns, c, residual
        fcmgt   p3.s, p0/z, z29.s, z\s\().s
        sel     z\s\().s, p3, z29.s, z\s\().s
        fcmgt   p3.s, p0/z, z\s\().s, z30.s
        sel     z\s\().s, p3, z30.s, z\s\().s
.endm
.macro put s, t, tile, row, column, columns, c, residual
        st1w    {z\s\().s}, \columns, [\c, #\column, mul vl]
.endm

// An operation on `count` rows, 4 or 1, of as many vectors each.
.macro for_row operation, vectors, left, right, s0, s1, t0, t1, row, c, residual
        \operation \s0, \t0, \left, \row, 0, p1, \c, \residual
    .if \vectors == 2
        \operation \s1, \t1, \right, \row, 1, p2, \c, \residual
    .endif
.endm
.macro for_rows count, operation, vectors, left, right
        for_row \operation, \vectors, \left, \right, 0, 1, 16, 17, 0, x6, x10
    .if \count == 4
        for_row \operation, \vectors, \left, \right, 2, 3, 18, 19, 1, x21, x24
        for_row \operation, \vectors, \left, \right, 4, 5, 20, 21, 2, x22, x25
        for_row \operation, \vectors, \left, \right, 6, 7, 22, 23, 3, x23, x26
    .endif
.endm
.macro if_asked bit, count, operation, vectors, left, right
        tbz     w8, #\bit, .Lnot_asked\@
        for_rows \count, \operation, \vectors, \left, \right
.Lnot_asked\@:
.endm

// Rows from w12 on of the tiles `left` and `right`; then w12 and the pointers are those of the rows that follow.
.macro finish_rows count, vectors, left, right
    .if \count == 4
        add     x21, x6, x7
        add     x22, x21, x7
        add     x23, x22, x7
    .endif
        for_rows \count, take, \vectors, \left, \right
        cbz     w8, .Lfinished\@
        if_asked kHasAlpha, \count, scale, \vectors, \left, \right
        if_asked kHasCScale, \count, add_before, \vectors, \left, \right
        if_asked kHasColumnBias, \count, add_column_bias, \vectors, \left, \right
        if_asked kHasRowBias, \count, add_row_bias, \vectors, \left, \right
        if_asked kHasShift, \count, add_shift, \vectors, \left, \right
        tbz     w8, #kHasResidual, .Lno_residual\@
    .if \count == 4
        add     x24, x10, x11
        add     x25, x24, x11
        add     x26, x25, x11
    .endif
        for_rows \count, add_residual, \vectors, \left, \right
.Lno_residual\@:
        if_asked kHasClamp, \count, clamp, \vectors, \left, \right
.Lfinished\@:
        for_rows \count, put, \vectors, \left, \right
        add     w12, w12, #\count
        add     x9, x9, #4*\count
    .if \count == 4
        add     x6, x6, x7, lsl #2
        add     x10, x10, x11, lsl #2
    .else
        add     x6, x6, x7
        add     x10, x10, x11
    .endif
.endm

// The rows of the tiles `left` and `right`, of which x13 may have fewer.
.macro finish_tiles vectors, left, right
        cmp     x13, x20
        csel    x27, x13, x20, lt
        sub     x13, x13, x27
        mov     w12, #0
        subs    x27, x27, #4
        b.lt    .Lfew\@
.Lfour\@:
        finish_rows 4, \vectors, \left, \right
        subs    x27, x27, #4
        b.ge    .Lfour\@
.Lfew\@:
        adds    x27, x27, #4
        b.eq    .Lno_more\@
.Lone\@:
        finish_rows 1, \vectors, \left, \right
        subs    x27, x27, #1
        b.ne    .Lone\@
.Lno_more\@:
.endm

// --------------------------------------------------------------------------------------------------------- block

.macro multiply form, vectors
.Ltile\@:
        cmp     x13, x20
        b.gt    .Ltwo\@
        sum_tile \form, 1, \vectors
        finish_tiles \vectors, 0, 1
        b       .Lleave
.Ltwo\@:
        sum_tile \form, 2, \vectors
        finish_tiles \vectors, 0, 1
        finish_tiles \vectors, 2, 3
        cbz     x13, .Lleave
        ldr     x14, [x0, #kATile]
        add     x1, x1, x14
        b       .Ltile\@
.endm

.macro multiply_by_form vectors
        cbnz    x5, .Llisted\@
        cmp     x4, x28
        b.eq    .Lbeside\@
        multiply apart, \vectors
.Lbeside\@:
        multiply beside, \vectors
.Llisted\@:
        multiply listed, \vectors
.endm

// void ortolan_sme_multiply(const SmeBlock* block), of at least one row and one column
begin_function ortolan_sme_multiply
        stp     x19, x20, [sp, #-80]!
        .cfi_adjust_cfa_offset 80
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        .cfi_offset 19, -80
        .cfi_offset 20, -72
        .cfi_offset 21, -64
        .cfi_offset 22, -56
        .cfi_offset 23, -48
        .cfi_offset 24, -40
        .cfi_offset 25, -32
        .cfi_offset 26, -24
        .cfi_offset 27, -16
        .cfi_offset 28, -8
        enter_streaming
        ptrue   p0.s
        cntw    x20
        ldp     x1, x14, [x0, #kA]
        ldp     x2, x4, [x0, #kB]
        ldp     x5, x3, [x0, #kBRows]
        ldp     x13, x15, [x0, #kRows]
        ldp     x6, x7, [x0, #kC]
        ldp     x16, x9, [x0, #kColumnBias]
        ldp     x10, x11, [x0, #kResidual]
        ldr     w8, [x0, #kSteps]
        whilelt p1.s, xzr, x15
        whilelt p2.s, x20, x15
        ld1rw   {z24.s}, p0/z, [x0, #kAlpha]
        ld1rw   {z25.s}, p0/z, [x0, #kCScale]
        ld1rw   {z28.s}, p0/z, [x0, #kShift]
        ld1rw   {z29.s}, p0/z, [x0, #kLow]
        ld1rw   {z30.s}, p0/z, [x0, #kHigh]
        cbz     x16, .Lno_bias
        ld1w    {z26.s}, p1/z, [x16]
        ld1w    {z27.s}, p2/z, [x16, #1, mul vl]
.Lno_bias:
        mov     x28, x20                // B's step where rows lie beside each other
        cmp     x15, x20
        b.gt    .Lwide
        multiply_by_form 1
.Lwide: lsl     x28, x20, #1
        multiply_by_form 2

.Lleave:
        leave_streaming
        ldp     x27, x28, [sp, #64]
        ldp     x25, x26, [sp, #48]
        ldp     x23, x24, [sp, #32]
        ldp     x21, x22, [sp, #16]
        ldp     x19, x20, [sp], #80
        .cfi_adjust_cfa_offset -80
        .cfi_restore 19
        .cfi_restore 20
        .cfi_restore 21
        .cfi_restore 22
        .cfi_restore 23
        .cfi_restore 24
        .cfi_restore 25
        .cfi_restore 26
        .cfi_restore 27
        .cfi_restore 28
        ret
end_function ortolan_sme_multiply
