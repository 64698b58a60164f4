"""Vocabulary and line patterns of the generated texts.

A pattern is a `str.format` template whose fields name lists of words: a lower-case field is drawn anew each
time, an upper-case one once per text (the name of a variable in a function). Doubled braces are literal.
"""


def _words(text: str) -> list[str]:
    """Words of a text; a low line in a word stands for a blank."""
    return [word.replace("_", " ") for word in text.split()]


NOUNS = _words("""
account address adapter agent alert archive argument array asset attribute backend backup balance batch
binding block branch browser bucket buffer build bundle byte cache callback carrier catalog channel chart
checkout checksum client cluster column command commit component condition config connection constraint
container context contract controller cookie counter coupon credential currency cursor customer dashboard
database deadline default delivery dependency deployment descriptor device dialog digest directory discount
document domain driver editor element endpoint engine entity entry environment error event exception export
extension factory failure fallback feature field file filter fixture flag folder font form format frame
function gateway graph group handler hash header heap history hook host identifier image import index input
instance integer interface interval invoice item iterator job journal key label language latency layer
layout lease library limit line link listener loader locale lock logger loop mailbox manifest mapping margin
matrix memory menu merge message method metric middleware migration mirror model module monitor mutex
namespace network node notification number object observer offset operation operator option order output
owner package packet page pagination panel parameter parser partition password patch path pattern payload
payment permission pipeline plugin pointer policy pool port position prefix preview price priority process
producer product profile project promise prompt property protocol provider proxy query queue quota range
rate reader receipt record redirect reference refund region registry regression relation release renderer
replica report repository request reservation resolver resource response result retry revision role rollback
route router row rule runner runtime sample scanner schedule schema scope script section segment selector
sensor sequence serializer server service session setting shard shipment signal signature size snapshot
socket source stack stage statement status step storage stream string style subscription suffix summary
supplier switch symbol table target task template tenant terminal test theme thread threshold throttle
ticket timeout timer token toolbar topic trace transaction transform trigger tuple type unit update upload
validator value variable vendor version view viewport volume warehouse warning watcher webhook widget window
worker workflow workspace wrapper writer zone
""")

ADJECTIVES = _words("""
absent active ambiguous atomic broken cached central circular clean cold compact complete concurrent correct
current custom dead deep deprecated dirty distinct dynamic eager early empty exact existing expected
explicit external failing fast final fixed flaky foreign frozen full generic global hidden idle implicit
incomplete inner internal invalid large last lazy legacy local long lost main manual minimal missing mutable
narrow nested new next noisy null obsolete old optional ordered orphaned outer parallel partial pending
plain previous private public random raw redundant remote repeated required safe scoped second secondary
shared short silent simple single slow small stable stale static strict strong surplus temporary tight tiny
trailing transient unique unknown unused upstream useful valid visible warm weak wide wrong
""")

VERBS = _words("""
accepts adds allocates appends blocks breaks calls changes checks clears closes collects compares computes
copies counts creates decodes deletes depends describes drops emits encodes escapes expands expects exports
fails fetches fills filters finds flushes folds formats guards handles hides holds ignores imports inserts
joins keeps launches leaks limits loads locks logs maps marks matches merges misses moves needs normalizes
opens orders overwrites packs parses passes picks polls prints quotes raises reads receives rejects releases
reloads removes renames repeats replaces resets resolves restores retries returns rounds runs saves scans
schedules sends serializes shares shows skips sorts splits starts stops stores strips swallows tests tracks
trims truncates updates validates waits walks wraps writes
""")

ADVERBS = _words("""
again already always anyway briefly carefully correctly directly early eventually exactly finally first here
immediately instead later locally mostly never often once only probably quickly rarely really safely
silently sometimes soon still then twice usually
""")

PREPOSITIONS = _words("""
after against at before behind below between beyond by for from in inside into of on over to with
""")

STEMS = _words("""
ark bel cor dan ek fir gal hor in jun kel lum mar nov os pel quor ren sol tav ul ven wex yar zen aris bor
cel dov eld fen gor
""")

CLAUSES = """\
the {a} {n} {v} the {n}
the {n} {r} {v} a {a} {n}
{i} {v} {n} and {n}
{p} {f} the {n} {v} {d} {n}s
each {n} {v} one {n} {p} the {n}
nobody {v} the {n} {p} {w}
{w} {r} {v} {i}
its {n} {v} more than {d} {n}s
a {a} {n} is never {a}
this {v} {p} the {a} {n}
please see why {i} {v} the {n}
we {r} {v} it {p} line {d} of {f}
every {n} that the {n} {v} is {a}
what {v} the {n} {r} {v} the {n} of {w}
there are {d} {n}s {p} the {n}
the {n} of {i} {v}
I do not know which {n} {v} {w}
my {n} {v} its {a} {n} twice
both the {n} and the {n} {v}
one {n} {v} where the {n} was {a}
it {r} {v} an hour {p} the {n}
no {a} {n} {v} {p} {e}:{e}""".splitlines()
"""Patterns of clauses; a sentence joins one to three of them."""

LINKS = [", and ", ", so ", " because ", "; ", " while ", " when ", ", but ", ": ", ", which means that "]

CODE = {
    "py": (
        "def {I}({X}: {t}, {Y}: {t} | None = None) -> {t}:\n",
        [
            '    """The {a} {n} {p} the {n}; the {n} {v} it {r}."""\n',
            "    {X} = {i}({Y}, {d})\n",
            '    if {X} is None or {Y} > {d}:\n        raise {C}(f"{a} {n}: {{{X}!r}}")\n',
            "    for {Z} in {X}.{i}():\n        {Y}.append({Z}.{i} + {d})\n",
            '    {Y} = {{"{n}": {X}, "{i}": {d}}}\n',
            "    # {n} {v} the {a} {n}\n",
            '    with {i}({X}) as {Z}:\n        {Y} = {Z}.{i}("{n}", {i}={d})\n',
            '    try:\n        {X}.{i}({Y})\n    except {C} as error:\n        logger.warning("{n} {v} %s", error)\n',
            "    {Z} = [{i}(value) for value in {X} if value.{i}]\n",
        ],
        "    return {X}.{i}({Y})\n\n\n",
    ),
    "ts": (
        "export async function {I}({X}: {t}, {Y}?: {t}): Promise<{t}> {{\n",
        [
            "  // the {a} {n} {v} the {n}\n",
            '  const {Z} = await {i}({X}, {{ {i}: {d}, {i}: "{n}" }});\n',
            "  if (!{Y} || {Y}.{i} > {d}) {{\n    throw new {C}(`{a} {n}: ${{{X}}}`);\n  }}\n",
            "  for (const {i} of {X}.{i}) {{\n    {Z}.push({i}.{i});\n  }}\n",
            "  const {{ {i}, {i} }} = {Z} ?? {{}};\n",
            "  {Z}.{i} = {Y}?.{i}.map((value) => value.{i} * {d});\n",
            '  logger.debug("{n} {v} the {n}", {{ {X}, {Z} }});\n',
        ],
        "  return {Z}.{i}({Y});\n}}\n\n",
    ),
    "go": (
        "// {I} {v} the {a} {n} {p} the {n}.\nfunc ({X} *{C}) {I}(ctx context.Context, {Y} {t}) (*{C}, error) {{\n",
        [
            "\t{Z}, err := {X}.{i}(ctx, {Y}, {d})\n\tif err != nil {{\n"
            '\t\treturn nil, fmt.Errorf("{n}: %w", err)\n\t}}\n',
            "\tfor _, {i} := range {Z} {{\n\t\t{X}.{i} = append({X}.{i}, {i})\n\t}}\n",
            "\tdefer {X}.{i}.Unlock()\n",
            '\tif len({Z}.{i}) > {d} {{\n\t\tlog.Printf("{n} {v} %d {n}s", len({Z}.{i}))\n\t}}\n',
            "\t{X}.{i} = &{C}{{{i}: {d}, {i}: {Y}}}\n",
        ],
        "\treturn &{C}{{{i}: {Z}}}, nil\n}}\n\n",
    ),
}
"""By suffix: how a function begins, lines of its body, how it ends."""

TYPES = {
    "py": ["int", "str", "bytes", "float", "list[str]", "dict[str, int]", "Path", "datetime"],
    "ts": ["string", "number", "boolean", "string[]", "Record<string, number>", "Date", "unknown"],
    "go": ["string", "int64", "[]byte", "time.Duration", "map[string]int", "bool"],
}

OUTPUT = [
    ["\x1b[32mPASSED\x1b[0m tests/test_{N}.py::test_{i}_{v} [{d}%]\n"],
    ["{h} {v} the {a} {n} ({n})\n", "{h} {n}: {v} {a} {n}s {p} the {n}\n"],
    [
        "-rw-r--r-- 1 dev dev {d}{d} Mar {e} {e}:{e} {f}\n",
        "drwxr-xr-x {e} dev dev 4096 Sep {e} {e}:{e} {n}\n",
    ],
    [
        "2026-04-{e}T{e}:{e}:{e}.{d}Z INFO  {N}.{i} {v} {n} id={h} took={d}ms\n",
        "2026-04-{e}T{e}:{e}:{e}.{d}Z WARN  {N}.{i} the {a} {n} {r} {v} {n} attempt={e}\n",
    ],
    ['  File "/srv/{N}/{f}", line {d}, in {i}\n    {i} = {i}({i}, {d})\n'],
    ["{f}:{d}:    {i} = {i}.{i}({d})\n", "{f}:{d}:# {n} {v} the {a} {n}\n"],
    [
        "+    {i} = {i}({d})\n",
        "-    {i} = {i}({d})\n",
        "     return {i}.{i}\n",
        "@@ -{d},{e} +{d},{e} @@ def {i}\n",
    ],
    [" {d} | {n} | {h} | {d}.{e} | {a} {n}\n"],
    ['{{"id":"{h}","{n}":"{a}","{i}":{d},"{n}":["{n}","{n}"]}}\n'],
    ["  ✓ {i} {v} the {a} {n} ({d} ms)\n", "  ✗ {i} {v} the {n} ({d} ms)\n", "    → {n} {v} {n}\n"],
    ["├── {i}.py\n", "│   ├── {i}_{n}.ts\n", "│   └── {n}.go\n"],
    ["Collecting {w}=={e}.{e}.{e}\n", "  Downloading {w}-{e}.{e}.{e}-py3-none-any.whl ({d} kB)\n"],
]
"""Lines of the output of commands; one text takes its lines from one of the lists."""

FOREIGN: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "ru": (
        [
            "{n} {u} {v} {m} {o}, поэтому {a} {n} {v} {m} {u}.",
            "Почему {a} {n} {v} {m} {g} в файле {f}?",
            "Проверь {m} {g}: {n} {u} {o} {v} {m}, {d} раз.",
            "{a} {n} {v} {m}, но {n} {g} {v} {i}.",
        ],
        {
            "n": _words("сервер клиент запрос ответ обработчик парсер поток индекс журнал модуль тест пакет отчёт"),
            "m": _words("очередь таблицу строку ошибку схему память ветку сессию задачу запись версию функцию"),
            "g": _words("заказов оплаты склада доставки пользователей настроек событий архива отчётов поиска"),
            "o": _words("заново дважды ночью по_ошибке без_блокировки в_цикле после_обновления при_запуске"),
            "v": _words("читает пишет теряет проверяет удаляет открывает повторяет сортирует закрывает считает"),
            "u": _words("ва ли ко ра ми ту сен дор жи бел ост чур хан пре гло ём"),
            "a": _words("старый новый пустой медленный внешний лишний общий последний временный следующий"),
        },
    ),
    "ja": (
        [
            "{n}{u}が{m}{g}を{v}ため、{a}{n}{u}は{m}を{v}。",
            "{f}の{n}が{a}{m}を{v}理由を調べてください。",
            "{d}行目の{n}{g}は{u}の{a}{m}を{v}。",
            "`{i}`は{n}{g}から{m}を{v}。",
        ],
        {
            "n": _words("サーバー 関数 設定 画面 端末 索引 接続 処理 試験 変数 履歴 時刻表 請求書"),
            "m": _words("キュー 例外 行 値 結果 文字列 記録 版 キャッシュ 権限 在庫 注文"),
            "g": _words("管理 一覧 検索 更新 監視 通知 変換 解析 予約 認証 集計 同期"),
            "v": _words("読み込む 書き出す 消す 待つ 比べる 開く 閉じる 数える 返す 更新する"),
            "u": list("京都阪神田中山川本村上野原島松高石水木金土日月火風雲森林池橋町"),
            "a": _words("古い 新しい 空の 遅い 共有の 一時的な 最後の 不正な 大きい"),
        },
    ),
    "zh": (
        [
            "{u}{n}{g}{v}{m},所以{a}的{n}没有{v}{m}{u}。",
            "为什么{f}中的{n}会{v}{a}的{m}?",
            "请检查第{d}行:{u}的{n}{g}{v}了{a}的{m}。",
            "`{i}`先{v}{m},然后{n}{g}再{v}{m}。",
        ],
        {
            "n": _words("服务器 客户端 函数 解析器 线程 索引 模块 测试 订单 进程 网关 任务"),
            "m": _words("队列 异常 缓存 记录 字符串 权限 版本 内存 会话 库存 结果"),
            "g": _words("管理 列表 搜索 更新 监控 通知 转换 分析 预约 认证 统计 同步"),
            "v": _words("读取 写入 删除 等待 比较 打开 关闭 统计 返回 忽略 更新"),
            "u": list("京海江河山东西南北安宁平华明光天地云林石金水火风春秋龙凤城州港湾"),
            "a": _words("旧 新 空 慢 共享 临时 最后 错误 完整 重复"),
        },
    ),
    "fr": (
        [
            "{n} {u} {v} {m}, donc {n} {v} {m} {u} {g}.",
            "Pourquoi {n} {v} {m} {g} à la ligne {d} de {f} ?",
            "Vérifie que {n} {g} a été {a} après {m}.",
            "{n} {v} {u}, mais {m} {g} reste à vérifier {u}.",
        ],
        {
            "n": _words("l'étape le_modèle la_requête le_fichier la_clé l'événement le_numéro la_mémoire"),
            "m": _words("la_réponse le_résumé l'entrée la_dépendance le_schéma l'élément la_procédure"),
            "g": _words("du_réseau généré de_sécurité dupliqué de_l'été caché du_dépôt à_créer trié"),
            "v": _words("répète crée sépare vérifie exécute déplace complète libère dépasse"),
            "u": _words("bré dès vil mon tâ rou clé pin sûr gal hô tel fer nuî"),
            "a": _words("validé supprimé réécrit exécuté mélangé copié libéré"),
        },
    ),
}
"""By language: patterns of sentences, their words and syllables of names (`u`).

`fr` is written decomposed, with combining accents.
"""

EMOJI = ["✅", "🎉", "⚠️", "🚀", "👩‍💻", "🧾", "❌", "👍🏽"]

COMMANDS = """python3 -m pytest -q
git diff --stat --
npm test --silent --
go vet
ls -la
rg --no-heading TODO
cat
make build 2>&1 | tail -n 40 && wc -l""".splitlines()
"""Commands; the path of a file follows."""
