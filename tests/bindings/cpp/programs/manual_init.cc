// The function table is taken by the program itself, as libraries do that cannot be linked with the runtime.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <cstdio>

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  const OrtApi* table = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (table == nullptr) return 3;
  Ort::InitApi(table);
  if (&Ort::GetApi() != table) return 4;
  Ort::InitApi();
  if (&Ort::GetApi() != table) return 5;
  Ort::Env env;
  Ort::Session session(env, argv[1], Ort::SessionOptions());
  std::printf("inputs: %zu\n", session.GetInputCount());
  return 0;
}
