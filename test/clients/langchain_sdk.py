"""LangChain's chat models and embeddings of OpenAI and Ollama."""

from importlib.metadata import version

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from steps import KEY, LONG_QUESTION, MODEL, PERSON_TEXT, QUESTION, RUNTIME, V1, WEATHER, Client, done, equal, has, of_many, raises, vectors


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    return "18 degrees and sun"


def with_tools(chat):
    bound = chat.bind_tools([get_weather])
    asked = [HumanMessage(WEATHER)]
    message = bound.invoke(asked)
    (call,) = message.tool_calls
    equal((call["name"], call["args"]), ("get_weather", {"city": "Paris"}))
    return has(bound.invoke([*asked, message, ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])]).text, "18")


def chat_steps(row, chat, embedder):
    row.step("chat", lambda: has(chat.invoke(QUESTION).text))
    row.step("stream", lambda: of_many([chunk.text for chunk in chat.stream(LONG_QUESTION)]))
    row.step("tools", lambda: with_tools(chat))
    row.step("structured", lambda: equal(chat.with_structured_output(Person, method="json_schema").invoke(PERSON_TEXT), Person(name="Ann", age=31)))
    if embedder:
        row.step("embeddings", lambda: vectors(embedder.embed_documents(["a dog", "a cat"]), 2))
    row.step("errors", lambda: raises(Exception, lambda: chat.model_copy(update={"model": "none", "model_name": "none"}).invoke("a"), "none"))
    return row


openai_version = version("langchain-openai")
common = {"model": MODEL, "api_key": KEY, "base_url": V1, "temperature": 0, "max_retries": 0}
# The length check wants OpenAI's own tokenizer from the network; other servers count for themselves.
embedder = OpenAIEmbeddings(model=MODEL, api_key=KEY, base_url=V1, check_embedding_ctx_length=False)
done(
    chat_steps(Client("langchain-openai", openai_version), ChatOpenAI(**common), embedder),
    chat_steps(Client("langchain-openai, responses", openai_version), ChatOpenAI(**common, use_responses_api=True), None),
    chat_steps(
        Client("langchain-ollama", version("langchain-ollama")),
        ChatOllama(model=MODEL, base_url=RUNTIME, temperature=0),
        OllamaEmbeddings(model=MODEL, base_url=RUNTIME),
    ),
)
