"""What Alembic runs: the connection comes from `dpbandits.service.rows.migrating`. Imported by
anybody else, it does nothing.
"""

from alembic import context

from dpbandits.service.rows.tables import metadata

config = getattr(context, "config", None)
if config is not None:
    context.configure(connection=config.attributes["connection"], target_metadata=metadata)
    context.run_migrations()
