"""Write the generated pages of docs/: what a sweep file holds, and which policy to take."""

from docs.generator import PAGES
from docs.generator.sweep_files import sweep_file_page
from docs.generator.which_policy import which_policy_page


def main() -> None:
    for name, make in (("sweep_files", sweep_file_page), ("which_policy", which_policy_page)):
        (PAGES / f"{name}.md").write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
