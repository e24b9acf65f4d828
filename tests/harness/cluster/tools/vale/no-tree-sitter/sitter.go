// Package sitter stands in for tree-sitter. Vale reads the comments of programs with it, and only prose is linted here;
// tree-sitter is C, and the tools are built without a C compiler.
package sitter

import (
	"context"
	"errors"
)

// ErrNoParser is returned for every program.
var ErrNoParser = errors.New("vale was built without tree-sitter: it lints prose, not programs")

// The types that Vale names. None has a value: no tree is ever made.
type (
	Language    struct{}
	Parser      struct{}
	Tree        struct{}
	Node        struct{}
	Query       struct{}
	QueryCursor struct{}
	Point       struct{ Row, Column uint32 }
	Capture     struct {
		Index uint32
		Node  *Node
	}
	Match struct{ Captures []Capture }
)

func NewParser() *Parser                      { return &Parser{} }
func (*Parser) SetLanguage(*Language)         {}
func (*Tree) RootNode() *Node                 { return nil }
func (*Node) Content([]byte) string           { return "" }
func (*Node) StartPoint() Point               { return Point{} }
func NewQueryCursor() *QueryCursor            { return &QueryCursor{} }
func (*QueryCursor) Exec(*Query, *Node)       {}
func (*Query) CaptureNameForId(uint32) string { return "" }

func (*QueryCursor) NextMatch() (*Match, bool)                      { return nil, false }
func (*QueryCursor) FilterPredicates(match *Match, _ []byte) *Match { return match }

func (*Parser) ParseCtx(context.Context, *Tree, []byte) (*Tree, error) { return nil, ErrNoParser }
func NewQuery([]byte, *Language) (*Query, error)                       { return nil, ErrNoParser }
