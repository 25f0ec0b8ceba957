"""Choice of the engine for a model's provider, by the model id and the settings, without the network."""

from __future__ import annotations

import os
from contextlib import closing

from dspy import lm15
from dspy.clients.engines import AsyncLiteLLMEngine, AsyncLM15Engine, LM15Engine
from pydantic import SecretStr

from marchwarden.errors import ConfigurationError
from marchwarden.http.certificates import tls_context
from marchwarden.lm.counting import TokenCounter
from marchwarden.lm.engine import READ_TIMEOUT_S, Capabilities, Engine, PerLoopEngine
from marchwarden.lm.native import DECLARED, NativeEngine, Route, declared_provider
from marchwarden.settings import Settings

MODELS_HINT = (
    "Use anthropic/claude-…, openai/…, ollama_chat/… or another id that DSPy knows, openai/NAME with "
    "MARCHWARDEN_API_BASE for a server of your own, or extractive for no model."
)


def resolve(settings: Settings) -> Engine:
    """Return the engine for the model in the settings, for any number of event loops.

    Raises ConfigurationError, with a hint, for a missing key, an unknown model, and certificates that the environment
    names and that are not there.
    """
    tls_context()
    provider, slash, name = settings.model_id.partition("/")
    # LiteLLM takes an address in a model's id for the server to ask, and would send it the key.
    if (slash and not name) or "://" in name:
        raise _unknown(settings.model_id)
    if provider == "anthropic":
        from marchwarden.lm.anthropic import AnthropicEngine, capabilities_of

        key = _secret(settings.api_key if settings.api_base else None) or _secret(settings.anthropic_api_key)
        return PerLoopEngine(
            lambda: AnthropicEngine(name, key or "none", base_url=settings.api_base), capabilities_of(name)
        )
    if settings.api_base and name:
        return _own_server(settings, settings.api_base, name)
    return _known_to_dspy(settings)


def _own_server(settings: Settings, api_base: str, name: str) -> Engine:
    """Return the engine for a server with OpenAI's chat completions; the model id's prefix says no more than that."""
    key = _secret(settings.api_key)
    config = lm15.RouterConfig(
        api_keys={DECLARED: key} if key else None,
        providers=(declared_provider(api_base, keyless=key is None),),
        timeouts=lm15.Timeouts(read=READ_TIMEOUT_S),
        env={},
    )
    route = Route(f"{DECLARED}:{name}", Capabilities.with_schema())
    return PerLoopEngine(
        lambda: NativeEngine(AsyncLM15Engine(config), route, TokenCounter(api_base, key)), route.capabilities
    )


def _known_to_dspy(settings: Settings) -> Engine:
    """Return the engine for a provider that DSPy knows, with the provider's own key or MARCHWARDEN_API_KEY."""
    # DSPy and LiteLLM fetch a price list on first use, and wait for it; both carry a copy.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    model, key = settings.model_id, _secret(settings.api_key)
    try:
        found = LM15Engine(lm15.RouterConfig(env={})).resolve(model)
    except lm15.LM15Error:
        return _through_litellm(settings)
    config = lm15.RouterConfig(
        api_keys={found.provider: key} if key else None, timeouts=lm15.Timeouts(read=READ_TIMEOUT_S)
    )
    routed = f"{found.provider}:{found.model}"
    try:
        with closing(LM15Engine(config)) as probe:
            probe.router.lm(routed)
    except lm15.NotConfiguredError as error:
        variables = " or ".join(getattr(error, "env_keys", ()) or ("the provider's own variable",))
        hint = f"Set it with `marchwarden keys set api_key`, or set {variables} in the environment."
        raise ConfigurationError(f"{model} needs a key", hint=hint) from None
    route = Route(routed, _capabilities(model), "anthropic" in found.provider)
    return PerLoopEngine(lambda: NativeEngine(AsyncLM15Engine(config), route), route.capabilities)


def _through_litellm(settings: Settings) -> Engine:
    """Return the engine for a provider that only LiteLLM knows, where LiteLLM is installed."""
    model, key = settings.model_id, _secret(settings.api_key)
    if "/" not in model:
        raise _unknown(model)
    try:
        import litellm
    except ImportError:
        raise _unknown(model, " Or install litellm, which knows more providers.") from None
    litellm.suppress_debug_info = True  # it prints to stdout otherwise
    try:
        litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        raise _unknown(model) from None
    route = Route(model, _capabilities(model))
    return PerLoopEngine(
        lambda: NativeEngine(
            AsyncLiteLLMEngine(api_key=key, timeout=READ_TIMEOUT_S), route, TokenCounter(None, None)
        ),
        route.capabilities,
    )


def _unknown(model: str, more: str = "") -> ConfigurationError:
    return ConfigurationError(f"no model is known as {model!r}", hint=MODELS_HINT + more)


def _capabilities(model: str) -> Capabilities:
    """Return the model's capabilities by DSPy's catalogue."""
    import dspy

    known = dspy.LM(model, cache=False)
    return Capabilities(response_schema=known.supports_response_schema, params=frozenset(known.supported_params))


def _secret(value: SecretStr | None) -> str | None:
    return (value.get_secret_value() or None) if value is not None else None
