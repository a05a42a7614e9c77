# Sizes of messages of a cluster for data mining.
# Source: Greenberg et al., VL2, SIGCOMM 2009, with the knots of Alizadeh et al., pFabric, SIGCOMM 2013, which are in
# packets of 1460 bytes: 1, 2, 3, 7, 267, 2107, 66667, 666667.
# bytes   fraction of messages of at most that size
1460      0.5
2920      0.6
4380      0.7
10220     0.8
389820    0.9
3076220   0.95
97333820  0.99
973333820 1
