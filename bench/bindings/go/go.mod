module ortolan.org/overhead

go 1.19

require ortolan.org/ortolan v0.0.0

replace ortolan.org/ortolan => ../ortolan
