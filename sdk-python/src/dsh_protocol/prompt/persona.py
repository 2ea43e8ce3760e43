"""A persona for one scope: who the model is there, in place of what the deployment says."""

from __future__ import annotations

from dsh_protocol.scopes import Disposer

from .contributor import Contributor
from .orders import section_order
from .service import PERSONA_PREFIX, PERSONA_SUFFIX


def register_persona(
    prompt: Contributor,
    *,
    prefix: str,
    suffix: str = "",
    complete: bool = False,
    include_runtime_context: bool = True,
) -> Disposer:
    """Shadow both persona sections of the deployment in the scope of `prompt`, the suffix also where it is empty.

    `complete` makes the prefix the whole prompt. `include_runtime_context=False` suppresses runtime context in the scope. The
    disposer undoes all of it.

    Raises:
        RegistrationError: `prompt/duplicate-name`, the layer has a persona; the global layer always has one.
    """
    owner = prompt.owner.child("persona")
    own = prompt.of(owner)
    try:
        order = section_order("DEPLOYMENT_PERSONA_PREFIX")
        own.section(PERSONA_PREFIX, order=order, text=prefix, complete=complete)
        order = section_order("DEPLOYMENT_PERSONA_SUFFIX")
        own.section(PERSONA_SUFFIX, order=order, text=suffix)
        if not include_runtime_context:
            own.suppress_runtime_context()
    except BaseException:
        owner.dispose()
        raise
    return owner.dispose
