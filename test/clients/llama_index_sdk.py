"""LlamaIndex: what it offers for servers that speak OpenAI's protocol, and for Ollama."""

from importlib.metadata import version

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.ollama import OllamaEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel
from steps import KEY, LONG_QUESTION, MODEL, PERSON_TEXT, QUESTION, RUNTIME, V1, WEATHER, Client, done, equal, has, of_many, raises, vectors


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def get_weather(city: str) -> str:
    """The weather of a city"""
    return "18 degrees and sun"


def with_tools(llm):
    answer = llm.chat_with_tools([FunctionTool.from_defaults(get_weather)], user_msg=WEATHER)
    (call,) = llm.get_tool_calls_from_response(answer)
    return equal((call.tool_name, call.tool_kwargs), ("get_weather", {"city": "Paris"}))


def steps_of(row, llm, embedder, other):
    messages = [ChatMessage(role="user", content=QUESTION)]
    row.step("chat", lambda: has(llm.chat(messages).message.content))
    row.step("stream", lambda: of_many([part.delta for part in llm.stream_chat([ChatMessage(role="user", content=LONG_QUESTION)])]))
    row.step("tools", lambda: with_tools(llm))
    row.step("structured", lambda: equal(llm.as_structured_llm(Person).complete(PERSON_TEXT).raw, Person(name="Ann", age=31)))
    row.step("embeddings", lambda: vectors(embedder.get_text_embedding_batch(["a dog", "a cat"]), 2))
    row.step("errors", lambda: raises(Exception, lambda: other.chat(messages), "none"))
    return row


def like(model):
    return OpenAILike(
        model=model, api_base=V1, api_key=KEY, is_chat_model=True, is_function_calling_model=True, should_use_structured_outputs=True, temperature=0, max_retries=0, context_window=2048
    )


done(
    steps_of(
        Client("llama-index openai-like", version("llama-index-llms-openai-like")),
        like(MODEL),
        OpenAILikeEmbedding(model_name=MODEL, api_base=V1, api_key=KEY),
        like("none"),
    ),
    steps_of(
        Client("llama-index ollama", version("llama-index-llms-ollama")),
        Ollama(model=MODEL, base_url=RUNTIME, temperature=0, request_timeout=60, context_window=2048),
        OllamaEmbedding(model_name=MODEL, base_url=RUNTIME),
        Ollama(model="none", base_url=RUNTIME, request_timeout=60, context_window=2048),
    ),
)
