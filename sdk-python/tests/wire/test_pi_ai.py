"""The pi-ai context: what a Python caller sees besides the conformance cases."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_protocol.findings import UsageError
from dsh_protocol.wire import ImageBudgetError, RequestImage, serialize, stream_parser
from dsh_protocol.wire.pi_ai import declared_updates

Json = dict[str, Any]
PROMPT = "supportsMidConvoSystemMessages"
BOTH = {"systemPromptUpdate": "in-history", "toolUpdate": "in-history"}
ADDING = {"systemPromptUpdate": "in-history", "toolUpdate": "addition-only"}
ALONE = {"systemPromptUpdate": "in-history"}


# The table of what compatibility data declare (release 0.2.1-rc.2, asked of its adapter).
@pytest.mark.parametrize(
    ("api", "flags", "declared"),
    [
        ("anthropic-messages", ["supportsMidConvoToolChanges"], {}),
        ("anthropic-messages", [PROMPT], ALONE),
        ("anthropic-messages", [PROMPT, "supportsMidConvoToolChanges"], BOTH),
        ("anthropic-messages", [PROMPT, "supportsMidConvoToolAdditions"], ALONE),
        ("openai-completions", [PROMPT, "supportsMidConvoToolAdditions"], ADDING),
        ("openai-completions", [PROMPT, "supportsMidConvoToolChanges"], ALONE),
        ("openai-completions", [PROMPT, "supportsToolSearch"], ALONE),
        *(
            (api, [PROMPT, flag], ADDING)
            for api in ("openai-responses", "azure-openai-responses", "openai-codex-responses")
            for flag in ("supportsAdditionalTools", "supportsToolSearch")
        ),
        ("openai-responses", [PROMPT, "supportsMidConvoToolAdditions"], ALONE),
        ("openai-responses", ["supportsToolSearch"], {}),
        ("mistral-conversations", [PROMPT, "supportsToolSearch"], ALONE),
    ],
)
def test_what_compatibility_data_declare(api: str, flags: list[str], declared: Json) -> None:
    assert declared_updates(api, dict.fromkeys(flags, True)) == declared
    assert declared_updates(api, dict.fromkeys(flags, False)) == {}


@pytest.mark.parametrize("version", [2, 3, 4])
def test_both_prompt_sources_are_one(version: int) -> None:
    """A prompt in the options is what a leading system message is, from format 3 on."""
    user = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    said = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}
    options = {"provider": "p", "model": "m", "messages": [user]}
    route = {"formatVersion": version}
    of_options = serialize("pi-ai", {**options, "system": "Be brief."}, route)
    of_history = serialize("pi-ai", {**options, "messages": [said, user]}, route)
    assert of_options["systemPrompt"] == "Be brief."
    assert (of_options == of_history) is (version > 2)


def test_a_caller_learns_how_many_images_have_to_go() -> None:
    reference = {
        "attachmentId": "sha256:" + "a" * 64,
        "mediaType": "image/png",
        "bytes": 3,
        "width": 1,
        "height": 1,
    }
    content = [{"type": "image", "attachment": reference}] * 3
    options = {"provider": "p", "model": "m", "messages": [{"role": "user", "content": content}]}
    route = {
        "formatVersion": 4,
        "inputModalities": ["text", "image"],
        "maxInlineRequestImageBytes": 8,
    }
    with pytest.raises(ImageBudgetError) as caught:
        serialize("pi-ai", options, route, _Images())
    assert (caught.value.code, caught.value.offload_images) == ("IMAGE_OFFLOAD_REQUIRED", 1)


class _Images:
    root = None

    def image(self, reference: Any) -> RequestImage:
        return RequestImage(b"png", reference["mediaType"], 1, 1)


def test_its_responses_are_the_library_s_own() -> None:
    with pytest.raises(UsageError, match="no wire is called"):
        stream_parser("pi-ai", model="m")
