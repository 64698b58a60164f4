-- What a share shows of a value. HMAC-SHA256 with the share's key, as RFC 2104 makes it of two hashes: 128 bits in
-- hexadecimal. `use` keeps what is made of one value for two uses apart. Null and '' stay what they are.
create macro keyed(use, value) as case
    when value = '' then ''
    else substr(
        sha256(getvariable('outer_pad') || unhex(sha256(getvariable('inner_pad') || encode(use || chr(0) || value)))),
        1,
        32
    )
end;
create macro shown_key(value) as keyed('key', value);
create macro shown_id(value) as keyed('id', value);
create macro shown_host(value) as case when value = '' then '' else 'host-' || substr(keyed('host', value), 1, 16) end;
create macro shown_user(value) as case when value = '' then '' else 'user-' || substr(keyed('user', value), 1, 16) end;
-- What an event tells of a call's end stands in a text, and in no other column: it is shown in front.
create macro told_outcome(value) as case
    when starts_with(value, 'accepted=')
        then regexp_extract(value, '^(accepted=(?:true|false|-) succeeded=(?:true|false|-))(?:\n|$)', 1)
    else ''
end;
create macro shown_text(value) as case
    when value = '' then ''
    else ltrim(told_outcome(value) || ' len=' || length(value) || ' hmac=' || keyed('text', value))
end;
-- A short name of a model, a tool or a status: not a sentence, no path, no address.
create macro is_name(value) as regexp_full_match(value, '[A-Za-z0-9][A-Za-z0-9 ._:@+()/-]{0,63}')
    and not regexp_matches(value, '(?i):/|//|(^|/)(home|users|root)/|@.*\.')
    and not regexp_matches(value, '( [^ ]+){5}');
-- `Tool`, `Tool(<pattern>)`, `*`, or the name of a setting.
create macro is_tool(value) as value = '*' or (is_name(value) and regexp_full_match(value, '[A-Za-z0-9_.:-]+'));
create macro shown_rule(value) as case
    when is_tool(value) then value
    when is_tool(regexp_extract(value, '^([^(]*)\((?s:.*)\)$', 1))
        then regexp_extract(value, '^([^(]*)\(', 1)
            || '(' || shown_text(regexp_extract(value, '^[^(]*\(((?s:.*))\)$', 1)) || ')'
    else shown_text(value)
end;
create macro shown_setting(value) as case
    when regexp_full_match(value, 'true|false|null|\[\]|\{\}|-?[0-9]{1,9}|-?[0-9]{1,6}\.[0-9]{1,6}') then value
    else shown_text(value)
end;
-- Which rows there are: of the hosts, users and assistants that are asked for (null: of all), and of a span of time.
create macro is_wanted(list, value) as list is null or coalesce(list_contains(list, value), false);
create macro is_of(home_host, home_user, assistant) as is_wanted(getvariable('hosts'), home_host)
    and is_wanted(getvariable('users'), home_user)
    and is_wanted(getvariable('agents'), assistant);
create macro is_in_span(first_utc, last_utc) as case
    when first_utc is null then getvariable('undated')
    else (getvariable('since') is null or last_utc >= getvariable('since'))
        and (getvariable('until') is null or first_utc < getvariable('until'))
end;
