package spec

// FileShape is the shape of scenario files, in the words of JSON Schema.
var FileShape = fileShape
