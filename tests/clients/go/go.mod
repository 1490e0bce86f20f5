module example.org/clients

go 1.19

require github.com/yalue/onnxruntime_go v1.27.0
