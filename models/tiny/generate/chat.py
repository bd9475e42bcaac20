"""Renders a dialogue exactly as the chat template of the exported file does, cut into what is given and what is to be said."""
import json

TOOLS_HEAD = "Functions you may call:\n<tools>"
TOOLS_FOOT = (
    '\n</tools>\nTo call one, answer with its name and arguments as JSON:\n<tool_call>\n{"name": "...", "arguments": {}}\n</tool_call>'
)

# What a parameter's schema shows beside its type.
SHOWN_PARTS = ("enum", "const", "anyOf", "oneOf", "items", "properties", "description")


class Dialogue:
    """Messages are (role, text); `tools` are OpenAI definitions; `thinking` means that the prompt opens a thinking block."""

    def __init__(self, messages, tools=None, thinking=False, kind=""):
        self.messages = messages
        self.tools = tools
        self.thinking = thinking
        self.kind = kind

    def segments(self):
        """[(text, said)]: `said` is true for what the model says, the end of its turn included."""
        out = []
        messages = list(self.messages)
        system = messages.pop(0)[1] if messages and messages[0][0] == "system" else None
        if system is not None or self.tools:
            text = "<|im_start|>system\n" + (system or "")
            if self.tools:
                text += "\n\n" if system is not None else ""
                text += TOOLS_HEAD + "".join("\n" + signature(tool) for tool in self.tools) + TOOLS_FOOT
            out.append((text + "<|im_end|>\n", False))
        for index, (role, text) in enumerate(messages):
            if role == "assistant":
                last = index == len(messages) - 1
                head = "<|im_start|>assistant\n"
                if last and self.thinking:
                    head += "<think>\n"
                elif "</think>" in text:
                    text = text.split("</think>")[-1].lstrip("\n")
                out.append((head, False))
                out.append((text + "<|im_end|>", True))
                out.append(("\n", False))
            elif role == "tool":
                out.append((f"<|im_start|>tool\n<tool_response>\n{text}\n</tool_response><|im_end|>\n", False))
            else:
                out.append((f"<|im_start|>{role}\n{text}<|im_end|>\n", False))
        return out


def dumps(value):
    """JSON as the `tojson` of chat templates writes it."""
    return json.dumps(value, ensure_ascii=False)


def signature(definition):
    """A tool as the template shows it."""
    offered = definition.get("function", definition)
    parameters = offered.get("parameters") or {}
    needed = parameters.get("required") or []
    shown = []
    for key, about in (parameters.get("properties") or {}).items():
        text = key if key in needed else key + "?"
        if isinstance(about, dict):
            if kind := about.get("type"):
                text += ": " + (kind if isinstance(kind, str) else dumps(kind))
            text += "".join(" " + dumps(about[part]) for part in SHOWN_PARTS if part in about)
        shown.append(text)
    told = (offered.get("description") or "").replace("\n", " ")
    return f"{offered['name']}({', '.join(shown)})" + (f": {told}" if told else "")


def call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {dumps(arguments)}}}\n</tool_call>'


def tool(name, description, properties, required=None):
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": list(properties) if required is None else required},
        },
    }
