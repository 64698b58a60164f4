-- Keys: 128 bits of SHA-256 in hexadecimal. Parts that can hold anything come last or with their length.
create macro key_of(identity, agent, path) as
    substr(sha256(concat(identity, chr(0), chr(0), agent, chr(0), path)), 1, 32);
create macro id_key_of(identity, agent, session_id) as key_of(identity, agent, concat(chr(0), session_id));
-- A word of a POSIX shell's command line.
create macro shell_word(word) as case
    when regexp_full_match(word, '[A-Za-z0-9_@%+=:,./-]+') then word
    else concat(chr(39), replace(word, chr(39), concat(chr(39), chr(34), chr(39), chr(34), chr(39))), chr(39))
end;
create macro row_key(place, kind, own, parent, occurrence, text) as
    substr(sha256(concat(
        place, chr(0), kind, chr(0), coalesce(parent, ''), chr(0), occurrence, chr(0),
        length(coalesce(own, '')), chr(0), own, text
    )), 1, 32);
create macro call_key_of(session_key, row_id) as substr(sha256(concat(session_key, chr(0), row_id)), 1, 32);
