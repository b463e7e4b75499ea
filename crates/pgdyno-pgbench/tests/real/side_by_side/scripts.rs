//! Scripts that work: every command, and what it leaves.

use super::cases::{Case, many, one};

/// What clients saw, in an order that does not depend on theirs.
const SEEN: &str = "select client, what from seen order by 1, 2";

const fn seen(options: &'static str, script: &'static [&'static str; 1]) -> Case {
    one(options, script).before("truncate seen").after(SEEN)
}

pub(super) const CASES: &[Case] = &[
    // Statements.
    one("-n -t 2", &["select 1;\n"]),
    one("-n -t 2", &["select 1"]),
    one("-n -t 2", &[";;select 1;;\n"]),
    one("-n -t 2", &["-- a comment\n\n  select 1; -- another\nselect /* ; */ 2;\n"]),
    one("-n -t 2", &["select 1; select 2; select ';', $$;$$, $a$;$a$, \";\" from (values(1)) v(\";\");\n"]),
    one("-n -t 2 -r", &["select 1; select\n  2,\n  3;\nselect ':x';\n"]),
    one("-n -t 2", &["select 1 \\; select 2 \\; select 3;\n"]),
    one("-n -t 2", &["begin \\; select 1 \\; end;\n"]),
    one("-n -t 2 -M extended", &["select 1;\n"]),
    one("-n -t 2 -M prepared -r", &["select 1;\nselect 2;\n"]),
    one("-n -t 2", &["begin;\nselect 1;\nend;\n"]),
    one("-n -t 2", &["create function f() returns int begin atomic select 1; end;\ndrop function f();\n"]),
    one("-n -t 1 -M prepared", &["create temp table x (a int);\ninsert into x values (1);\nselect * from x;\n"]),
    one("-n -t 1", &["vacuum t;\n"]),
    one("-n -t 1", &["select repeat('x', 3000000);\n"]),
    one("-n -t 1", &["select generate_series(1, 100000);\n"]),
    one("-n -t 1", &["select '\u{e4}\u{20ac}';\n"]),
    one("-n -t 2", &["select shout('hi');\n"]),
    one("-n -t 1", &["do $$ begin raise notice 'a'; raise warning 'b'; raise info 'c' using hint = 'h'; end $$;\n"]),
    one("-n -t 1 -M prepared", &["select shout('hi'), shout('ho');\n"]),
    one("-n -t 1", &["listen a;\nnotify a;\nselect 1;\n"]),
    one("-n -t 1", &["set client_min_messages = debug1;\nselect 1;\n"]),
    one("-n -t 1", &["set client_encoding = latin1;\nset standard_conforming_strings = off;\nselect 1;\n"]),
    // Variables.
    seen(
        "-n -t 1 --random-seed=7",
        &[
            "insert into seen values (:client_id, format('%s %s %s %s', :scale, :random_seed, :default_seed, ':client_id'));\n",
        ],
    ),
    seen(
        "-n -t 1 --random-seed=7 -M prepared",
        &[
            "insert into seen values (:client_id, format('%s %s %s', :scale::int, :random_seed::text, :default_seed::text));\n",
        ],
    ),
    seen("-n -t 1 -s 7 -D x=1 -D y=abc -D \u{e4}=2", &["insert into seen values (:x, ':y :\u{e4} :scale ::x :z');\n"]),
    seen(
        "-n -t 1 -D client_id=55 -D scale=3 -D random_seed=1 -D default_seed=2",
        &["insert into seen values (:client_id, ':scale :random_seed :default_seed');\n"],
    ),
    seen("-n -t 1 -D x=5 -M extended", &["insert into seen values (:x, :x::text);\n"]),
    seen("-n -t 1 -M extended", &["insert into seen values (1, :nope::text);\n"]),
    seen("-n -t 1 -M prepared", &["\\set a null\ninsert into seen values (1, :a::text);\n"]),
    seen("-n -t 1", &["\\set a null\ninsert into seen values (1, ':a');\n"]),
    seen(
        "-n -t 1",
        &[
            "\\set a 1.5\n\\set b 1e300 * 10\n\\set c true\n\\set d 1.0 / 3\n\\set e -0.0\n\\set f 1e15\n\\set g 123456789012345678\n\
         \\set h 1.0 / 0\n\\set i :h - :h\n\\set j 100000000000000000000.0\n\
         insert into seen values (1, ':a :b :c :d :e :f :g :h :i :j');\n",
        ],
    ),
    seen(
        "-n -t 1 -M prepared",
        &[
            "\\set a 1.5\n\\set c true\n\\set d 1.0 / 3\ninsert into seen values (1, :a::text || ' ' || :c::text || :d::text);\n",
        ],
    ),
    // Expressions.
    seen(
        "-n -t 1 --random-seed=3",
        &[
            "\\set a 1 + 2 * 3 - -4 % 3\n\\set b (7 & 3 << 1) | 8 # 1\n\\set c ~ 1 + 2\n\\set d not 1 > 2 and true or null\n\
         \\set e case when 1 = 2 then 3 when true then 4 else 5 end\n\\set f case when false then 1 end\n\
         \\set g :a is not null and :f is null\n\\set h 5 isnull or 5 notnull\n\\set i abs(-5) + greatest(1, 2.5, 2) - least(3, 1)\n\
         \\set j int(2.5) + int(3.5) + double(2)\n\\set k pi() * sqrt(4) + exp(0) + ln(1) + pow(2, 10) + power(2, 0.5)\n\
         \\set l mod(7, 3) + hash(5) % 1000\n\\set m hash_fnv1a(10, 123)\n\\set n hash_murmur2(10, 123)\n\\set o permute(5, 10, 1)\n\
         \\set p -9223372036854775808\n\\set q 1 <> 2 and 1 != 2 and 1 <= 2 and 2 >= 1\n\\set r 1e3\n\\set s .5 + 5.\n\
         insert into seen values (1, ':a :b :c :d :e :f :g :h :i :j :k :l :m :n :o :p :q :r :s');\n",
        ],
    ),
    one(
        "-n -t 1",
        &[
            "\\set a debug(1) + debug(2)\n\\set b debug(1.5)\n\\set c debug(null)\n\\set d debug(true)\n\\set e debug(1.0/3)\nselect 1;\n",
        ],
    ),
    one("-n -t 1", &["\\set a 1 + \\\n  2\n\\set b debug(:a)\nselect 1;\n"]),
    one("-n -t 2", &["\\set i 0\n\\set i debug(:i + 1)\nselect 1;\n"]),
    one("-n -t 1 -D x=on -D y=of -D z=tr", &["\\set a debug(:x)\n\\set a debug(:y)\n\\set a debug(:z)\nselect 1;\n"]),
    one(
        "-n -t 1 -D x=0x10 -D y=1e2 -D z=·5",
        &["\\set a debug(:y)\n\\set b debug(:z)\n\\set a debug(:x)\nselect 1;\n"],
    ),
    // \if.
    one("-n -t 2 -r", &["\\if false\nselect 1;\n\\elif true\nselect 2;\n\\else\nselect 3;\n\\endif\n"]),
    one(
        "-n -t 1",
        &[
            "\\if 1\n\\if 0\nselect shout('no');\n\\elif null\nselect shout('no');\n\\else\nselect shout('yes');\n\\endif\n\\else\n\
         \\if 1\nselect shout('never');\n\\endif\n\\endif\nselect shout('end');\n",
        ],
    ),
    one(
        "-n -t 1",
        &["\\if 0\n\\set x debug(1)\n\\elif 2.5\n\\set x debug(2)\n\\elif 1\n\\set x debug(3)\n\\endif\nselect 1;\n"],
    ),
    one("-n -t 1", &["\\if 0\n\\if 1/0\n\\elif 1/0\n\\endif\n\\sleep :x\n\\shell nonsense\n\\endif\nselect 1;\n"]),
    one("-n -t 2", &["\\if 0\nselect 1;\n\\endif\n"]),
    // \gset and \aset.
    seen("-n -t 1", &["select 1 as x, 'a b' as y, null as z \\gset\ninsert into seen values (:x, ':y|:z|');\n"]),
    seen(
        "-n -t 1 -M extended",
        &["select 1 as x, 'a b' as y, null as z \\gset\ninsert into seen values (:x::int, :y || '|' || :z);\n"],
    ),
    seen(
        "-n -t 1 -M prepared",
        &["select 1 as x, 'a b' as y \\gset p_\ninsert into seen values (:p_x::int, :p_y::text);\n"],
    ),
    seen("-n -t 1", &["select 1 as x \\; select 2 as y \\gset\ninsert into seen values (:y, ':x');\n"]),
    seen("-n -t 1", &["select 1 as x \\; select 2 as y \\aset\ninsert into seen values (:y, ':x');\n"]),
    seen(
        "-n -t 1",
        &[
            "select 1 as x \\; select 2 as y where false \\; select n as y from generate_series(1,3) n \\aset q\ninsert into seen values (:qy, ':qx');\n",
        ],
    ),
    seen(
        "-n -t 1",
        &[
            "select 5 as \"select\", 6 as \"if\", 7 as client_id \\gset\ninsert into seen values (:client_id, ':select :if');\n",
        ],
    ),
    seen("-n -t 1", &["select 5 as x, 6 as x \\gset\ninsert into seen values (:x, '');\n"]),
    seen("-n -t 1", &["select 5 as x where false \\aset\ninsert into seen values (1, ':x');\n"]),
    seen("-n -t 1", &["update t set n = n where false \\; select 1 as x \\gset\ninsert into seen values (:x, '');\n"]),
    one("-n -t 2", &["select shout('a') as x \\gset\n\\set y debug(:x)\n"]),
    one("-n -t 1", &["select 'abc' as x \\gset\nselect ':x';\n"]),
    one("-n -t 1 -r", &["select 1 as x\n  \\gset\nselect 2 as y \\gset\n"]),
    one(
        "-n -t 1",
        &["show server_encoding \\gset\nexplain (costs off) select 1 \\aset e_\nselect ':server_encoding';\n"],
    ),
    // \sleep and shells.
    one("-n -t 2 -r", &["\\set z 1\n\\sleep :z us\nselect 1;\n\\sleep 1ms\n\\sleep 0\n\\sleep 0 s\n"]),
    one("-n -t 1", &["\\sleep 2 ms\n"]),
    one("-n -t 1", &["\\shell echo hello\n\\shell echo out of line >&2\nselect 1;\n"]),
    one("-n -t 2", &["\\shell echo :client_id ::x :nope 'a  b' >> written\n"]),
    one("-n -t 1 -D x=5 -D cmd=echo", &["\\shell :cmd :x 'x' \"$PGUSER\" > written\nselect 1;\n"]),
    seen(
        "-n -t 1",
        &[
            "\\setshell x echo 5\n\\setshell y expr :x + 3\n\\setshell z printf '7\\n8\\n'\ninsert into seen values (:x, ':y :z');\n",
        ],
    ),
    seen("-n -t 1", &["\\setshell x echo '  5 '\ninsert into seen values (:x, '');\n"]),
    seen("-n -t 1", &["\\setshell x 'echo 5; exit 3'\ninsert into seen values (:x, '');\n"]),
    // Pipelines.
    one("-n -t 2 -M extended", &["\\startpipeline\nselect 1;\nselect 2;\n\\endpipeline\n"]),
    one("-n -t 2 -M prepared -r", &["\\startpipeline\nselect 1;\nselect 2;\n\\endpipeline\nselect 3;\n"]),
    one("-n -t 2 -M prepared", &["\\startpipeline\n\\endpipeline\n"]),
    one("-n -t 2 -M extended", &["\\startpipeline\n\\endpipeline\n\\startpipeline\nselect 1;\n\\endpipeline\n"]),
    one("-n -t 2 -M prepared", &["\\startpipeline\nselect 1;\n\\sleep 1 ms\nselect 2;\n\\endpipeline\n"]),
    one(
        "-n -t 2 -M prepared",
        &["\\startpipeline\nselect 1;\n\\set x debug(5)\n\\if 0\nselect 2;\n\\endif\n\\shell true\n\\endpipeline\n"],
    ),
    one("-n -t 2 -M prepared", &["\\startpipeline\nbegin;\nselect shout('a');\nend;\n\\endpipeline\n"]),
    seen(
        "-n -t 1 -M extended",
        &[
            "\\set x 5\n\\startpipeline\ninsert into seen values (:x, 'a');\ninsert into seen values (:x, 'b');\n\\endpipeline\n",
        ],
    ),
    one("-n -t 2 -M prepared", &["\\startpipeline\n\\syncpipeline\n\\endpipeline\nselect 1;\n"]).since(17),
    one(
        "-n -t 2 -M extended -r",
        &["\\startpipeline\nselect 1;\n\\syncpipeline\nselect 2;\n\\syncpipeline\n\\syncpipeline\n\\endpipeline\n"],
    )
    .since(17),
    one(
        "-n -t 2 -M prepared",
        &["begin;\n\\startpipeline\nselect 1;\n\\syncpipeline\nselect 2;\n\\endpipeline\nend;\n"],
    )
    .since(17),
    // Command names in any case, and continued.
    one("-n -t 1", &["\\SET a debug(1)\n\\If true\n\\Sleep 1 US\n\\ENDIF\nselect 1 as x \\GSET\n"]),
    // Clients, threads, connections.
    seen("-n -t 2 -c 3", &["insert into seen values (:client_id, 'x');\n"]),
    seen("-n -t 2 -c 3 -j 2", &["insert into seen values (:client_id, 'x');\n"]),
    seen("-n -t 2 -c 3 -j 5", &["insert into seen values (:client_id, 'x');\n"]),
    one("-n -t 2 -C", &["select 1;\n"]),
    one("-n -t 2 -C -c 3 -r", &["select 1;\n"]),
    one("-n -t 2 -C -c 3 -j 3 -M prepared", &["select 1;\n"]),
    one("-n -t 2 -C", &["set application_name = x;\nbegin;\nselect 1;\nend;\n"]),
    one("-n -t 2 -C", &["\\set x debug(1)\n"]),
    one("-n -t 2 -C", &["select shout('a');\n"]),
    seen("-n -t 2 -C --random-seed=3", &["\\set n random(1, 1000)\ninsert into seen values (:client_id, ':n');\n"]),
    // Several scripts.
    many("-n -t 3 -f a.sql@1 -f b.sql@0", &["select shout('a');\n", "select shout('b');\n"]),
    many("-n -t 20 --random-seed=5", &["\\set x debug(1)\n", "\\set x debug(2)\n"]),
    many(
        "-n -t 20 --random-seed=5 -f a.sql@3 -f b.sql -f a.sql@2 -b select-only",
        &["\\set x debug(1)\n", "\\set x debug(2)\n"],
    ),
    many("-n -t 20 --random-seed=5 -M prepared -r", &["select shout('a');\n", "select shout('b');\n"]),
    // Standard input.
    many("-n -t 1 -f -", &[]).stdin("select shout('in');\n"),
    many("-n -t 1 -f -@2 -f a.sql@0 --debug", &["select 1;\n"]).stdin("select 2;\n"),
    // Bytes that are no text: a noncharacter stands for one of them.
    seen("-n -t 1", &["insert into seen values (1, convert_from('\\x61', 'latin1')); -- \u{ffff}\n"]),
    one("-n -t 1", &["select '\u{ffff}';\n"]),
    one("-n -t 1 -M prepared", &["select '\u{ffff}';\n"]),
    one("-n -t 1", &["\\set \u{ffff} debug(1)\n\\set b debug(:\u{ffff})\n"]),
    one("-n -t 1", &["select shout('a');\n\0select shout('b');\n"]),
    one("-n -t 1", &["\u{feff}select 1;\n"]),
    one("-n -t 1", &["select shout('a');\r\n\\set x debug(1)\r\nselect\r\n1;\r\n"]),
];
