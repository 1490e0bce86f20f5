/* A program that includes every public header, uses the names that programs use, and finds a function in every slot of
   every table. It is compiled as C11 and, through every_slot.cc, as C++17. */
#include <stdio.h>
#include <string.h>

#include "onnxruntime_c_api.h"
#include "onnxruntime_ep_c_api.h"
#include "onnxruntime_error_code.h"
#include "onnxruntime_run_options_config_keys.h"
#include "onnxruntime_session_options_config_keys.h"
#include "ortolan.h"
#include "ortolan_ep.h"

#if ORT_API_VERSION != 31
#error "the header describes another level"
#endif

/* The macros as programs use them: functions of their own, tables of their own, a file name, a path. */
ORT_API_STATUS(program_check, _In_ const OrtApi* api, _Outptr_result_maybenull_ const char** text);
ORT_API_STATUS_IMPL(program_check, _In_ const OrtApi* api, _Outptr_result_maybenull_ const char** text) {
  *text = NULL;
  return api->CreateStatus(ORT_OK, "fine");
}
ORT_API(int, program_number, int number);
ORT_API(int, program_number, int number) { return number; }

ORT_RUNTIME_CLASS(ProgramThing);
struct ProgramTable {
  ORT_API2_STATUS(Check, _In_ const OrtApi* api, _Outptr_result_maybenull_ const char** text);
  ORT_API_T(int, Number, int number);
  ORT_CLASS_RELEASE(ProgramThing);
};
static void ORT_API_CALL release_thing(OrtProgramThing* thing) { (void)thing; }

/* What a program implements for the runtime: functions that may be declared with or without NO_EXCEPTION. */
static void* ORT_API_CALL program_alloc(OrtAllocator* this_, size_t size) {
  (void)this_;
  (void)size;
  return NULL;
}
static void ORT_API_CALL program_log(void* param, OrtLoggingLevel severity, const char* category, const char* logid,
                                     const char* code_location, const char* message) {
  (void)param, (void)severity, (void)category, (void)logid, (void)code_location, (void)message;
}
static OrtStatus* ORT_API_CALL program_capability(OrtEp* ep, const OrtGraph* graph,
                                                  OrtEpGraphSupportInfo* info) NO_EXCEPTION {
  (void)ep, (void)graph, (void)info;
  return NULL;
}

static int failures = 0;

static void expect(int condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "failed: %s\n", what);
    ++failures;
  }
}

static void expect_slots(const OrtApi* api) {
  const OrtModelEditorApi* OrtModelEditorApi_table = api->GetModelEditorApi();
  const OrtCompileApi* OrtCompileApi_table = api->GetCompileApi();
  const OrtInteropApi* OrtInteropApi_table = api->GetInteropApi();
  const OrtModelPackageApi* OrtModelPackageApi_table = api->GetModelPackageApi();
  const OrtEpApi* OrtEpApi_table = api->GetEpApi();
  const OrtApi* OrtApi_table = api;
#define ORTOLAN_SLOT(table, name, function, slot, since) expect(table##_table->name != NULL, #table "::" #name);
#include "api_slots.inc"
#undef ORTOLAN_SLOT
}

static void expect_usual_names(const OrtApi* api) {
  struct ProgramTable table = {program_check, program_number, release_thing};
  const ORTCHAR_T* path = ORT_TSTR("model.onnx");
  const ORTCHAR_T* file = ORT_FILE;
  const char* text = "";
  OrtStatusPtr status = table.Check(api, &text);
  expect(status != NULL && text == NULL, "a status of ORT_OK is an object");
  expect(api->GetErrorCode(status) == ORT_OK, "its code");
  expect(strcmp(api->GetErrorMessage(status), "fine") == 0, "its text");
  api->ReleaseStatus(status);
  api->ReleaseStatus(NULL);
  expect(table.Number(31) == ORT_API_VERSION, "the level");
  table.ReleaseProgramThing(NULL);
  expect(path[0] == 'm' && file[0] != 0, "paths");
  expect(strcmp(kOrtSessionOptionsConfigDisablePrepacking, "session.disable_prepacking") == 0, "session keys");
  expect(strcmp(kOrtRunOptionsConfigCudaGraphAnnotation, "gpu_graph_id") == 0, "run keys");
}

static void expect_structs(void) {
  OrtAllocator allocator;
  OrtEp ep;
  OrtCustomOp op;
  OrtCUDAProviderOptions cuda;
  OrtLoggingFunction log = program_log;
  OrtErrorCode code = ORT_NOT_FOUND;
  enum OrtSparseIndicesFormat format = ORT_SPARSE_COO_INDICES;
  memset(&allocator, 0, sizeof allocator);
  memset(&ep, 0, sizeof ep);
  memset(&op, 0, sizeof op);
  memset((void*)&cuda, 0, sizeof cuda);
  allocator.version = ORT_API_VERSION;
  allocator.Alloc = program_alloc;
  ep.ort_version_supported = ORT_API_VERSION;
  ep.GetCapability = program_capability;
  op.GetInputCharacteristic = NULL;
  cuda.cudnn_conv_algo_search = OrtCudnnConvAlgoSearchExhaustive;
  expect(log != NULL && code == 14 && (int)format == 0, "types");
  expect(allocator.Alloc(&allocator, 1) == NULL, "callbacks");
#ifdef __cplusplus
  expect(OrtResourceCount::FromTotalBytes(7).AsTotalBytes() == 7, "resource counts");
  expect(OrtResourceCount::None().kind == OrtResourceCountKind_None, "no resource count");
#endif
}

int main(void) {
  const OrtApiBase* base = OrtGetApiBase();
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  expect(api != NULL, "GetApi");
  expect_slots(api);
  expect_usual_names(api);
  expect_structs();
  return failures == 0 ? 0 : 1;
}
