module ortolan.org/ortolan

go 1.19
