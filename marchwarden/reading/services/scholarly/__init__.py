"""Records and full texts of scholarly works, as the APIs of their registries and archives answer."""
