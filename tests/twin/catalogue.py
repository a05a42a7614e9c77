"""Every scheme by its `kind`."""

from twin.conga import Conga
from twin.quality import Dlb, Sglb
from twin.queues import Ar, Choice, Drill, Jsq
from twin.rotation import Ofan, Pofan
from twin.schemes import Ecmp, Flowlet, Rsq, Scheme, SimpleRr
from twin.spraying import Drb, Ethereal, Reps, Rps

SCHEMES: dict[str, type[Scheme]] = {
    "ecmp": Ecmp,
    "flowlet": Flowlet,
    "simple-rr": SimpleRr,
    "jsq": Jsq,
    "choice": Choice,
    "drill": Drill,
    "ar": Ar,
    "conga": Conga,
    "dlb": Dlb,
    "sglb": Sglb,
    "rsq": Rsq,
    "rps": Rps,
    "reps": Reps,
    "drb": Drb,
    "ethereal": Ethereal,
    "ofan": Ofan,
    "pofan": Pofan,
}
