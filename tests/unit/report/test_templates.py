"""Where templates are found, and what they may not do."""

from __future__ import annotations

import pytest

from kafka_capacity.errors import RenderError
from kafka_capacity.report.template_folder import environment, render_template, template_folder, text_environment


def templates(folder, **files):
    (folder / "report.html").write_text("")
    for name, text in files.items():
        (folder / f"{name}.html").write_text(text)
    return folder


def test_the_repository_has_templates(monkeypatch):
    monkeypatch.delenv("KAFKA_CAPACITY_TEMPLATES", raising=False)
    assert (template_folder() / "report.html").is_file()


def test_the_environment_names_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_CAPACITY_TEMPLATES", str(templates(tmp_path)))
    assert template_folder() == tmp_path


def test_a_folder_without_templates_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_CAPACITY_TEMPLATES", str(tmp_path))
    with pytest.raises(RenderError) as caught:
        template_folder()
    assert str(caught.value) == (
        f"templates: {str(tmp_path)!r} has no report.html; name the folder with it, or unset KAFKA_CAPACITY_TEMPLATES"
    )


def test_what_is_not_there_is_an_error(tmp_path):
    made = environment(templates(tmp_path, page="{{ nothing }}"))
    with pytest.raises(RenderError, match=r"template 'page.html' could not be rendered: 'nothing' is undefined"):
        render_template(made, "page.html")


@pytest.mark.parametrize("value", [1.5, None, True, [1]])
def test_a_bare_figure_is_an_error(tmp_path, value):
    made = environment(templates(tmp_path, page="{{ value }}"))
    with pytest.raises(RenderError, match="has no format"):
        render_template(made, "page.html", value=value)


def test_everything_is_escaped_and_made_visible(tmp_path):
    made = environment(templates(tmp_path, page="{{ value }}{{ 3 }}"))
    assert render_template(made, "page.html", value="<b>\n\u202e{{7*7}}") == "&lt;b&gt;\\n\\u202e{{7*7}}3"


def test_plain_text_is_not_escaped(tmp_path):
    made = text_environment(templates(tmp_path, page="{{ value }}"))
    assert render_template(made, "page.html", value="a & b\n") == "a & b\\n"
