package scenario

// FileShape is the shape of scenario files, as JSON Schema has it.
var FileShape = fileShape

// Shape is a part of it.
type Shape = shape
