from tacit.models.family_registry import family as family
from tacit.models.registered_families import *  # noqa: F403
