package expr

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// KeyCondition is a parsed KeyConditionExpression.
type KeyCondition struct {
	root   condition
	tokens uses
	built  []term // of a Builder, which need no Args; else nil
}

// ParseKeyCondition parses a KeyConditionExpression: the language of conditions, of which Check then allows very
// little. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func ParseKeyCondition(src string) (*KeyCondition, error) {
	c, err := parseCondition(keyConditionLanguage, src)
	if err != nil {
		return nil, err
	}
	return &KeyCondition{root: c.root, tokens: c.tokens}, nil
}

// String prints the key condition.
func (k *KeyCondition) String() string { return printNode(k.root) }

// Names returns the "#a" in the key condition.
func (k *KeyCondition) Names() []string { return k.tokens.names }

// Values returns the ":v" in the key condition.
func (k *KeyCondition) Values() []string { return k.tokens.values }

// Check finds the mistakes that DynamoDB refuses before it looks at the table: everything but one or two conditions,
// joined by AND, each on one key attribute.
func (k *KeyCondition) Check(args Args) error {
	_, err := k.terms(args)
	return err
}

// term is a condition on one attribute.
type term struct {
	attribute string
	op        string // = < <= > >= BETWEEN begins_with; of a Builder also "": none that a key can have
	values    []attr.Value
}

// terms returns the one or two conditions.
func (k *KeyCondition) terms(args Args) ([]term, error) {
	terms, err := k.allTerms(args)
	if err == nil && len(terms) > 2 {
		err = errTooManyTerms
	}
	return terms, err
}

var errTooManyTerms = plainError("Conditions can be of length 1 or 2 only")

func (k *KeyCondition) allTerms(args Args) ([]term, error) {
	if k.built != nil {
		return k.built, nil
	}
	if err := k.root.check(checker{lang: keyConditionLanguage, args: args}); err != nil {
		return nil, err
	}
	return appendTerms(nil, k.root, args)
}

func appendTerms(terms []term, n condition, args Args) ([]term, error) {
	switch n := n.(type) {
	case *logic:
		if n.op != "AND" {
			return nil, invalidOperator(n.op)
		}
		terms, err := appendTerms(terms, n.left, args)
		if err != nil {
			return nil, err
		}
		return appendTerms(terms, n.right, args)
	case *not:
		return nil, invalidOperator("NOT")
	case *in:
		return nil, invalidOperator("IN")
	case *between:
		return appendTerm(terms, "BETWEEN", args, n.x, n.low, n.high)
	case *comparison:
		if n.op == "<>" {
			return nil, invalidOperator(n.op)
		}
		if _, ok := n.left.(*placeholder); ok {
			return appendTerm(terms, mirrored[n.op], args, n.right, n.left)
		}
		return appendTerm(terms, n.op, args, n.left, n.right)
	case *call:
		if n.name != "begins_with" {
			return nil, invalidOperator(n.name)
		}
		return appendTerm(terms, n.name, args, n.args...)
	}
	return nil, plainError("Query key condition not supported")
}

func invalidOperator(op string) error {
	return plainError("Invalid operator used in KeyConditionExpression: %s", op)
}

// mirrored has the operators as they read from the right.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// appendTerm takes one attribute and constants.
func appendTerm(terms []term, op string, args Args, operands ...operand) ([]term, error) {
	t := term{op: op}
	found := false
	for i, x := range operands {
		switch x := x.(type) {
		case *path:
			if found {
				return nil, plainError("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")
			}
			if len(x.steps) > 1 {
				return nil, plainError("KeyConditionExpressions cannot have conditions on nested attributes")
			}
			t.attribute, found = x.steps[0].attribute(args)
		case *placeholder:
			if i == 0 && (op == "BETWEEN" || op == "begins_with") {
				return nil, plainError("Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first operand", op)
			}
			v, _ := args.value(x.key)
			t.values = append(t.values, v)
		default:
			return nil, plainError("KeyConditionExpressions cannot contain nested operations")
		}
	}
	if !found {
		return nil, plainError("Invalid condition in KeyConditionExpression: No key attribute specified")
	}
	for _, other := range terms {
		if other.attribute == t.attribute {
			return nil, plainError("KeyConditionExpressions must only contain one condition per key")
		}
	}
	return append(terms, t), nil
}
