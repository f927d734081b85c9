package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// statement puts the names of the case's tables into a statement, in which they stand in double quotes.
func (w *world) statement(text string) *string {
	for _, table := range []string{usualTable, "other", "missing"} {
		text = strings.ReplaceAll(text, `"`+table+`"`, `"`+w.name(table)+`"`)
	}
	return aws.String(text)
}

// execute runs a statement, in which "rows" is the usual table.
func execute(statement string, options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodb.ExecuteStatementInput{Statement: w.statement(statement)}, options)
	}
}

// batchExecute runs a batch of statements, each made by execute. A nil list stays nil.
func batchExecute(list actions, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.BatchExecuteStatementInput{}
		if list != nil {
			in.Statements = []types.BatchStatementRequest{}
		}
		for _, r := range list {
			in.Statements = append(in.Statements, *shared[types.BatchStatementRequest](r(w)))
		}
		return build(w, in, options)
	}
}

// transactExecute runs statements as a transaction, each made by execute. A nil list stays nil.
func transactExecute(list actions, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.ExecuteTransactionInput{}
		if list != nil {
			in.TransactStatements = []types.ParameterizedStatement{}
		}
		for _, r := range list {
			in.TransactStatements = append(in.TransactStatements, *shared[types.ParameterizedStatement](r(w)))
		}
		return build(w, in, options)
	}
}

// params are the parameters of a statement.
func params(values ...any) option {
	list := []types.AttributeValue{}
	for _, v := range values {
		list = append(list, valueOf(v))
	}
	return set("Parameters", list)
}

// nextPage gives the NextToken that was seen last.
func nextPage() option {
	return func(w *world, in any) { set("NextToken", w.next)(w, in) }
}

func consistently() option { return set("ConsistentRead", true) }
