"""Built-in families of likelihoods; `tacit.models.registered_families` lists them."""
