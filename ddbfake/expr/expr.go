package expr

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// Args are the names and values that a request gives to its expressions.
type Args struct {
	Names  map[string]string     // ExpressionAttributeNames: "#a" to an attribute name
	Values map[string]attr.Value // ExpressionAttributeValues: ":v" to a value
}

// Expression is what the four languages have in common.
type Expression interface {
	// String prints the expression so that it parses to the same expression.
	String() string
	// Check finds what DynamoDB refuses before it looks at any item.
	Check(Args) error
	// Names returns the "#a" that occur in the expression.
	Names() []string
	// Values returns the ":v" that occur in the expression.
	Values() []string
}

// Unused reports the Args that none of the expressions uses, with the
// service's text.
func Unused(args Args, used ...Expression) error { return nil }

type Condition struct{}

func ParseCondition(src string) (*Condition, error) { return &Condition{}, nil }
func ParseFilter(src string) (*Condition, error)    { return &Condition{}, nil }
func (c *Condition) String() string                 { return "" }
func (c *Condition) Names() []string                { return nil }
func (c *Condition) Values() []string               { return nil }
func (c *Condition) Check(args Args) error          { return nil }

// Attributes returns the top-level names that the condition reads.
func (c *Condition) Attributes(args Args) []string { return nil }

// Eval evaluates against an item; nil stands for a missing one.
func (c *Condition) Eval(item attr.Item, args Args) (bool, error) { return false, nil }

type Update struct{}

func ParseUpdate(src string) (*Update, error) { return &Update{}, nil }
func (u *Update) String() string              { return "" }
func (u *Update) Names() []string             { return nil }
func (u *Update) Values() []string            { return nil }
func (u *Update) Check(args Args) error       { return nil }

// Attributes returns the top-level names that the update writes.
func (u *Update) Attributes(args Args) []string { return nil }

// OnlyRemoves reports that there are only REMOVE and DELETE clauses: on a missing item they create nothing.
func (u *Update) OnlyRemoves() bool { return false }

// Apply returns the updated item and leaves old as it is.
func (u *Update) Apply(old attr.Item, args Args) (attr.Item, error) { return old, nil }

// Touched cuts an item down to the paths that the update writes: of the old item for UPDATED_OLD, of the new for UPDATED_NEW.
func (u *Update) Touched(item attr.Item, args Args) attr.Item { return nil }

type Projection struct{}

func ParseProjection(src string) (*Projection, error)                    { return &Projection{}, nil }
func (p *Projection) String() string                                     { return "" }
func (p *Projection) Names() []string                                    { return nil }
func (p *Projection) Values() []string                                   { return nil }
func (p *Projection) Check(args Args) error                              { return nil }
func (p *Projection) Attributes(args Args) []string                      { return nil }
func (p *Projection) Apply(item attr.Item, args Args) (attr.Item, error) { return nil, nil }

type KeyCondition struct{}

// Key is a key attribute of the table or index: its name and type.
type Key struct {
	Name string
	Kind attr.Kind
}

// Bounds is what a Query reads: the partition of Hash, from Low to High. A nil bound is open.
type Bounds struct {
	Hash                        attr.Value
	Low, High                   attr.Value
	LowExclusive, HighExclusive bool
}

// Contains reports whether a sort key lies within the bounds.
func (b Bounds) Contains(sort attr.Value) bool { return false }

func ParseKeyCondition(src string) (*KeyCondition, error) { return &KeyCondition{}, nil }
func (k *KeyCondition) String() string                    { return "" }
func (k *KeyCondition) Names() []string                   { return nil }
func (k *KeyCondition) Values() []string                  { return nil }
func (k *KeyCondition) Check(args Args) error             { return nil }

// Bind finds the bounds; sort is the zero Key if there is none.
func (k *KeyCondition) Bind(args Args, hash, sort Key) (Bounds, error) { return Bounds{}, nil }
