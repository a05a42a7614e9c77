"""Studies: a figure of a paper as one declarative file, its runs kept, its claims judged.

A study file holds `STUDY`, `CLAIMS` and `plot` (see docs/how-to/write-a-study.md); what it needs to say so is here.
"""

from fabricsim.replication import Mean, differences, growth, mean, means, ratios
from fabricsim.study.claims import Claim
from fabricsim.study.form import Point, Study
from fabricsim.study.leads import Leads, leads

__all__ = ["Claim", "Leads", "Mean", "Point", "Study", "differences", "growth", "leads", "mean", "means", "ratios"]
