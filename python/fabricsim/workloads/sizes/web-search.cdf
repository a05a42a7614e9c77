# Sizes of messages of a web search cluster.
# Source: Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, with the knots of Alizadeh et al., pFabric, SIGCOMM 2013,
# which are in packets of 1460 bytes: 6, 13, 19, 33, 53, 133, 667, 1333, 3333, 6667, 20000.
# bytes  fraction of messages of at most that size
8760     0.15
18980    0.2
27740    0.3
48180    0.4
77380    0.53
194180   0.6
973820   0.7
1946180  0.8
4866180  0.9
9733820  0.97
29200000 1
