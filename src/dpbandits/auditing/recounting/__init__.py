"""A written report, read strictly and counted again by somebody who does not trust it."""
