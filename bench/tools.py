"""Definitions of the editor extension's tools, in the shape in which it stores them with every call.

Names, keys and their order are those of the extension's `toolCallStates[].tool`; the descriptions are the
benchmark's own and about as long.
"""

from typing import Any

Json = dict[str, Any]

RELATIVE = "Path of the file, from the root of the workspace; an absolute path or a file URI also works"


def _definition(name: str, title: str, doing: str, about: str, fields: dict[str, str], *, safe: bool) -> Json:
    """A definition as stored: `fields` are the required parameters and what they mean, all of them texts."""
    first = next(iter(fields))
    return {
        "type": "function",
        "displayTitle": title,
        "wouldLikeTo": f"{doing} {{{{{{ {first} }}}}}}",
        "isCurrently": f"now to {doing} {{{{{{ {first} }}}}}}",
        "hasAlready": f"did {doing} {{{{{{ {first} }}}}}}",
        "readonly": safe,
        "isInstant": safe,
        "group": "Built-In",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "required": list(fields),
                "properties": {key: {"type": "string", "description": text} for key, text in fields.items()},
            },
        },
        "systemMessageDescription": {
            "prefix": f"The tool {name} is there for this: {about.splitlines()[0]} An answer with it:",
            "exampleArgs": [[key, f"an example of {key}"] for key in fields],
        },
        "defaultToolPolicy": "allowedWithoutPermission" if safe else "allowedWithPermission",
    }


DEFINITIONS: dict[str, Json] = {
    made["function"]["name"]: made
    for made in (
        _definition(
            "read_file",
            "Read File",
            "read",
            "Shows the whole content of a file that exists already.",
            {"filepath": RELATIVE},
            safe=True,
        ),
        _definition(
            "ls",
            "ls",
            "list files in",
            "Lists the files and folders of one directory, and on request of all directories below it.",
            {
                "dirPath": "Path of the directory, with forward slashes",
                "recursive": "Whether to walk down; seldom wise",
            },
            safe=True,
        ),
        _definition(
            "grep_search",
            "Grep Search",
            "search for",
            "Searches the files of the repository with a regular expression. Build folders, caches and "
            "secrets are left out, and a long list of results is cut, so that a narrow expression gives "
            "the better answer.",
            {"query": "The expression. Use alternation to look for several words in a single search."},
            safe=True,
        ),
        _definition(
            "file_glob_search",
            "Glob File Search",
            "look for files like",
            "Finds files of the project by a pattern of their paths, at any depth. A long list of results is cut.",
            {"pattern": "Pattern of the path"},
            safe=True,
        ),
        _definition(
            "fetch_url_content",
            "Read URL",
            "fetch",
            "Shows what a web page says, as text. It is not meant for files of the workspace.",
            {"url": "Address of the page"},
            safe=False,
        ),
        _definition(
            "run_terminal_command",
            "Run Terminal Command",
            "run",
            "Runs one command in the directory of the workspace.\nThe shell keeps no state: each command "
            "starts afresh.       A command that runs in the background is to be stopped by another "
            "command, not by a key.       Commands that are shown to the user stand in a block of code "
            "of their own.       Nothing is done that needs the rights of an administrator.       Files "
            "are changed with the edit tools and not with a stream editor or a redirection.       "
            "Commands are chosen for the operating system, the processor and the shell of this machine.",
            {
                "command": "The command; the editor's shell gets it unchanged",
                "waitForCompletion": "Whether to wait for its end and to return what it printed. A command "
                "that never ends is started with false and goes on in the background.",
            },
            safe=False,
        ),
        _definition(
            "create_new_file",
            "Create New File",
            "create a new file at",
            "Creates a file that does not exist yet. An existing file is changed with the edit tools instead.",
            {"filepath": "Path of the new file", "contents": "What to write into it"},
            safe=False,
        ),
        _definition(
            "edit_existing_file",
            "Edit File",
            "edit",
            "Changes one file that exists, by a text that shows the new version.\nRead the file first "
            "and know what it holds. Parts that stay as they are may be shortened to a comment which "
            "says that the existing code goes here. This tool is called alone, never beside another "
            "call, since its result is shown to the user first.",
            {
                "filepath": RELATIVE,
                "changes": "The new version, shortened where nothing changes; no text around it",
            },
            safe=False,
        ),
        _definition(
            "multi_edit",
            "Multi Edit",
            "edit",
            "Makes several changes of one file in a single step, each of them by finding a text and "
            "replacing it.\n\nWhat to give:\n1. filepath: the file, from the root of the workspace\n2. "
            "edits: a list of changes, each with\n   - old_string: the text to find, exactly as the file "
            "has it, blanks and indentation included\n   - new_string: the text to put there\n   - "
            "replace_all: whether every occurrence is meant; false when it is missing\n\nWhat to "
            "know:\n- The changes are made in the order of the list, each on the result of the one "
            "before it\n- All of them must fit, otherwise none is made and the file stays as it was\n- "
            "Take this tool when several places of one file change; for one place the simpler tool is "
            "enough\n- Read the file right before, because a text that is not found ends the whole "
            "step\n- Give enough lines around a place to make it the only one, or set replace_all\n- Two "
            "changes must not touch the same lines, since the second would not find what it looks for\n- "
            "Keep the style, the indentation and the line ends that the file already uses, and leave the "
            "code in a state that runs",
            {
                "filepath": RELATIVE,
                "edits": "The changes: old_string, new_string and, where it is wanted, replace_all",
            },
            safe=False,
        ),
    )
}
"""By name."""
