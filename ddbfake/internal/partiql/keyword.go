package partiql

import "strings"

// keywords are words that can be a name only in double quotes.
//
// Source: https://github.com/partiql/partiql-lang-kotlin (SQL-92's keywords, and PartiQL's)
var keywords = wordsOf(`
	absolute action add all allocate alter and any are as asc assertion at authorization avg begin between bit
	bit_length by cascade cascaded case cast catalog char character character_length char_length check close coalesce
	collate collation column commit connect connection constraint constraints continue convert corresponding count
	create cross current current_date current_time current_timestamp current_user cursor date date_add date_diff
	deallocate dec decimal declare default deferrable deferred delete desc describe descriptor diagnostics disconnect
	distinct domain double drop else end escape except exception exec execute exists external extract false fetch first
	float for foreign found from full get global go goto grant group having identity immediate in indicator initially
	inner input insensitive insert int integer intersect interval into is isolation join key language last left level
	like local lower match max min module names national natural nchar next no not null nullif numeric octet_length of
	on only open option or order outer output overlaps pad partial position precision prepare preserve primary prior
	privileges procedure public read real references relative restrict revoke right rollback rows schema scroll section
	select session session_user set size smallint some space sql sqlcode sqlerror sqlstate substring sum system_user
	table temporary then time timestamp to transaction translate translation trim true union unique unknown update upper
	usage user using value values varchar varying view when whenever where with work write zone

	bag bigint blob bool boolean clob conflict do index int2 int4 int8 integer2 integer4 integer8 let limit list missing
	modified new nothing old pivot remove returning sexp string struct symbol tuple unpivot`)

// functionKeywords are the keywords that may stand before a parenthesis as the name of a function.
var functionKeywords = wordsOf(`
	avg bag bit_length char_length character_length count exists list lower max min octet_length sexp size sum upper`)

// types are the names after IS, each with the type of DynamoDB that it stands for; "" for a type that PartiQL has and
// DynamoDB refuses. (MISSING is no type of DynamoDB either, but has a meaning.)
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier2/partiql/whereFunctions.test.ts
var types = map[string]string{
	"missing": "", "null": "NULL", "bool": "BOOL", "boolean": "BOOL", "string": "S", "numeric": "N", "blob": "B",
	"struct": "M", "tuple": "M", "list": "L",
	"any": "", "bag": "", "bigint": "", "char": "", "character": "", "character varying": "", "clob": "", "date": "",
	"dec": "", "decimal": "", "double precision": "", "float": "", "int": "", "int2": "", "int4": "", "int8": "",
	"integer": "", "integer2": "", "integer4": "", "integer8": "", "real": "", "sexp": "", "smallint": "", "symbol": "",
	"time": "", "timestamp": "", "varchar": "",
}

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text) {
		words[word] = true
	}
	return words
}
