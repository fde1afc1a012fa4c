"""The room that a machine is to stand in, as a YAML or JSON file."""

from tierspan.formats.site.reader import read_site, site_of
from tierspan.specs.site import Site

__all__ = ["Site", "read_site", "site_of"]
