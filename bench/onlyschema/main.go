// Command onlyschema does nothing but link the schema library, whose package
// initialisation compiles the meta-schemas of five drafts. It tells how much of
// a hook's time is spent before main.
package main

import _ "github.com/santhosh-tekuri/jsonschema/v5"

func main() {}
