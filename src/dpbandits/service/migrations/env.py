"""What Alembic runs: the connection comes from `dpbandits.service.database`. Imported by anybody
else, it does nothing.
"""

from alembic import context

from dpbandits.service.tables import VERSION_TABLE, metadata

config = getattr(context, "config", None)
if config is not None:
    context.configure(
        connection=config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSION_TABLE,
    )
    context.run_migrations()
