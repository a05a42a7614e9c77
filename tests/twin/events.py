"""What happens first of what happens at one instant.

A frame that leaves is gone when queues are measured, its link fails or another arrives; links and routing have changed,
and adverts have come in, when ports are looked at; what arrives is known to what is sent, and what is paused sends
nothing. In a host of dcSim flows begin first, then Datas are due, Sims and Datas count as lost, and Data-Acks are
overdue; in one with windows flows begin, then packets time out. Ports that hold packets back decide last.
"""

LEAVE, MEASURE, CHANGE, ADVERT, SAMPLE, ARRIVE, SIGNAL, PAUSE, READY, DUE, SIM_LOST, DATA_LOST, OVERDUE = range(13)
TIMEOUT, SEND, START = range(13, 16)

# When nothing but these is left, nothing will ever be sent or received again.
BACKGROUND = (MEASURE, CHANGE, ADVERT, SAMPLE)
