"""Where cells are played: in processes of this machine, or by the workers of a Dask cluster."""
