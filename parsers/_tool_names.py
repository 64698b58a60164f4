"""Kinds of tools, by the names that the assistants give them.

Names: Continue's `core/tools/builtIn.ts` (files of version 1.0 have `builtin_` in front, and names of their own), the
tools of its CLI (`extensions/cli/src/tools`), and of the agent both its XML tags (`toolNames` of
`src/schemas/index.ts`) and the tools of its messages (`ClineSayTool` of `src/shared/ExtensionMessage.ts`). Tools of
MCP servers have names of their own.
"""

_NAMES = {
    "command": ("Bash", "run_terminal_command", "execute_command"),
    "read": (
        *("Read", "Diff", "Skills", "read_file", "read_file_range", "read_currently_open_file", "view_diff"),
        *("read_skill", "request_rule", "fetch_instructions", "readFile", "fetchInstructions"),
    ),
    "write": ("Write", "create_new_file", "create_rule_block", "write_to_file", "newFileCreated"),
    "edit": (
        *("Edit", "MultiEdit", "edit_existing_file", "single_find_and_replace", "multi_edit"),
        *("search_and_replace_in_file", "apply_diff", "insert_content", "search_and_replace"),
        *("editedExistingFile", "appliedDiff", "insertContent", "searchAndReplace"),
    ),
    "search": (
        *("Search", "grep_search", "exact_search", "file_glob_search", "codebase", "search_web"),
        *("search_files", "searchFiles"),
    ),
    "list": (
        *("List", "ls", "view_repo_map", "view_subdirectory", "list_files", "list_code_definition_names"),
        *("listFilesTopLevel", "listFilesRecursive", "listCodeDefinitionNames"),
    ),
    "fetch": ("Fetch", "fetch_url_content", "browser_action", "browser_action_launch"),
    "mcp": ("use_mcp_tool", "access_mcp_resource", "use_mcp_server"),
    "subagent": ("Subagent", "new_task", "newTask"),
    "other": (
        *("AskQuestion", "CheckBackgroundJob", "Checklist", "Exit", "ReportFailure", "Status", "UploadArtifact"),
        *("ask_followup_question", "attempt_completion", "switch_mode", "switchMode", "finishTask"),
    ),
}
_OLD_PREFIX = "builtin_"


def spelled(*names: str) -> frozenset[str]:
    """Return names of tools as all versions spell them."""
    return frozenset(names).union(_OLD_PREFIX + name for name in names)


_KINDS: dict[str | None, str] = {name: kind for kind, names in _NAMES.items() for name in spelled(*names)}


def tool_kind(name: str | None, *, is_served: bool = False) -> str:
    """Return the kind of a tool: that of its name; `mcp` for another name of a tool that is known to have been there.

    A tool that is neither the assistant's own nor a slip of the model is an MCP server's.
    """
    return _KINDS.get(name) or ("mcp" if is_served else "other")
