"""What happens first of what happens at one instant.

A frame that leaves is gone when its link fails or another arrives; links and routing have changed, and adverts have
come in, when ports are looked at; what arrives is known to what is sent.
"""

LEAVE, CHANGE, ADVERT, SAMPLE, ARRIVE, SIGNAL, READY, SEND = range(8)

# When nothing but these is left, nothing will ever be sent or received again.
BACKGROUND = (CHANGE, ADVERT, SAMPLE)
