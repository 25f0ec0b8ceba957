"""Which engine speaks to which provider: a model id and the settings, to a pair of engines. Touches no network."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dspy import lm15
from dspy.clients.engines import AsyncLiteLLMEngine, AsyncLM15Engine, LiteLLMEngine, LM15Engine
from pydantic import SecretStr

from marchwarden.errors import ConfigurationError
from marchwarden.lm.counting import AsyncTokenCounter, TokenCounter
from marchwarden.lm.engine import AsyncEngine, Capabilities, Engine
from marchwarden.lm.native import DECLARED, READ_TIMEOUT, AsyncNativeEngine, NativeEngine, Route, declared_provider
from marchwarden.settings import Settings

MODELS_HINT = (
    "Use anthropic/claude-…, openai/…, ollama_chat/… or another id that DSPy knows, openai/NAME with "
    "MARCHWARDEN_API_BASE for a server of your own, or extractive for no model."
)


@dataclass(frozen=True)
class Resolved:
    engine: Engine
    async_engine: AsyncEngine
    secrets: tuple[str, ...]


def resolve(settings: Settings) -> Resolved:
    """Raises ConfigurationError, with a hint, for a missing key or a model that nobody knows."""
    provider, slash, name = settings.model_id.partition("/")
    if slash and not name:
        raise _unknown(settings.model_id)
    if provider == "anthropic":
        return _claude(settings, name)
    if settings.api_base and name:
        return _own_server(settings, settings.api_base, name)
    return _known_to_dspy(settings)


def _claude(settings: Settings, name: str) -> Resolved:
    from marchwarden.lm.anthropic import AnthropicEngine, AsyncAnthropicEngine

    key = _secret(settings.api_key if settings.api_base else None) or _secret(settings.anthropic_api_key)
    if key is None and settings.api_base is None:
        raise ConfigurationError(
            f"{settings.model_id} needs a key", hint="Set ANTHROPIC_API_KEY, or MARCHWARDEN_MODEL=extractive."
        )
    key = key or "none"
    return Resolved(
        AnthropicEngine(name, key, base_url=settings.api_base),
        AsyncAnthropicEngine(name, key, base_url=settings.api_base),
        _secrets(settings),
    )


def _own_server(settings: Settings, api_base: str, name: str) -> Resolved:
    """A server that speaks OpenAI's chat completions; the prefix of the model id says no more than that."""
    key = _secret(settings.api_key)
    config = lm15.RouterConfig(
        api_keys={DECLARED: key} if key else None,
        providers=(declared_provider(api_base, keyless=key is None),),
        timeouts=lm15.Timeouts(read=READ_TIMEOUT),
        env={},
    )
    route = Route(f"{DECLARED}:{name}", Capabilities.with_schema())
    return Resolved(
        NativeEngine(LM15Engine(config), route, TokenCounter(api_base, key)),
        AsyncNativeEngine(AsyncLM15Engine(config), route, AsyncTokenCounter(api_base, key)),
        _secrets(settings),
    )


def _known_to_dspy(settings: Settings) -> Resolved:
    """A provider that DSPy reaches itself, with the provider's own key variable or MARCHWARDEN_API_KEY."""
    _no_downloads()
    model, key = settings.model_id, _secret(settings.api_key)
    try:
        found = LM15Engine(lm15.RouterConfig(env={})).resolve(model)
    except lm15.LM15Error:
        return _through_litellm(settings)
    config = lm15.RouterConfig(
        api_keys={found.provider: key} if key else None, timeouts=lm15.Timeouts(read=READ_TIMEOUT)
    )
    engine = LM15Engine(config)
    _require_key(engine, f"{found.provider}:{found.model}", model)
    route = Route(f"{found.provider}:{found.model}", _capabilities(model), "anthropic" in found.provider)
    return Resolved(
        NativeEngine(engine, route), AsyncNativeEngine(AsyncLM15Engine(config), route), _secrets(settings)
    )


def _through_litellm(settings: Settings) -> Resolved:
    """Providers that only LiteLLM knows, where it is installed."""
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
    return Resolved(
        NativeEngine(LiteLLMEngine(api_key=key, timeout=READ_TIMEOUT), route),
        AsyncNativeEngine(AsyncLiteLLMEngine(api_key=key, timeout=READ_TIMEOUT), route),
        _secrets(settings),
    )


def _unknown(model: str, more: str = "") -> ConfigurationError:
    return ConfigurationError(f"no model is known as {model!r}", hint=MODELS_HINT + more)


def _require_key(engine: LM15Engine, routed: str, model: str) -> None:
    try:
        engine.router.lm(routed)
    except lm15.NotConfiguredError as error:
        variables = " or ".join(getattr(error, "env_keys", ()) or ("the provider's own variable",))
        hint = f"Set MARCHWARDEN_API_KEY (in .env, say), or {variables} in the environment."
        raise ConfigurationError(f"{model} needs a key", hint=hint) from None


def _capabilities(model: str) -> Capabilities:
    """What DSPy's catalogue says of the model."""
    import dspy

    known = dspy.LM(model, cache=False)
    return Capabilities(response_schema=known.supports_response_schema, params=frozenset(known.supported_params))


def _no_downloads() -> None:
    """DSPy and LiteLLM fetch a price list on first use, and wait for it; both carry a copy."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def _secret(value: SecretStr | None) -> str | None:
    return (value.get_secret_value() or None) if value is not None else None


def _secrets(settings: Settings) -> tuple[str, ...]:
    keys = (_secret(settings.api_key), _secret(settings.anthropic_api_key), _secret(settings.tavily_api_key))
    return tuple(key for key in keys if key and len(key) > 5)
