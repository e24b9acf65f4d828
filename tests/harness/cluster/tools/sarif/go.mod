module trainyard/tools/sarif

go 1.26.0

// Not built: its tests hold the JSON Schema of SARIF 2.1.0, which the validator's are held against.
require github.com/securego/gosec/v2 v2.30.0
