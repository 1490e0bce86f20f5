/* Model packages. */
#include "packages.h"

#include "handles.h"
#include "table.h"
#include "texts.h"

static const OrtModelPackageApi* packages(void) { return api_table()->GetModelPackageApi(); }

#define DESTROY(TYPE)                                                                   \
  void destroy_Ort##TYPE(PyObject* handle) {                                            \
    packages()->Release##TYPE(PyCapsule_GetPointer(handle, PyCapsule_GetName(handle))); \
    destroy_nothing(handle);                                                            \
  }
DESTROY(ModelPackageContext)
DESTROY(ModelPackageOptions)
DESTROY(ModelPackageComponentContext)

OrtModelPackageContext* open_package(const char* folder, OrtStatus** status) {
  OrtModelPackageContext* package = NULL;
  *status = packages()->CreateModelPackageContext(folder, &package);
  return package;
}

OrtModelPackageOptions* create_package_options(const OrtEnv* environment, const OrtSessionOptions* session_options,
                                               OrtStatus** status) {
  OrtModelPackageOptions* options = NULL;
  *status = packages()->CreateModelPackageOptionsFromSessionOptions(environment, session_options, &options);
  return options;
}

int64_t package_schema_version(const OrtModelPackageContext* package, OrtStatus** status) {
  int64_t version = 0;
  *status = packages()->ModelPackage_GetSchemaVersion(package, &version);
  return version;
}

TextList* package_components(const OrtModelPackageContext* package, OrtStatus** status) {
  const char* const* names = NULL;
  size_t count = 0;
  *status = packages()->ModelPackage_GetComponentNames(package, &names, &count);
  return *status ? NULL : copy_texts(names, count, status);
}

TextList* package_variants(const OrtModelPackageContext* package, const char* component, OrtStatus** status) {
  const char* const* names = NULL;
  size_t count = 0;
  *status = packages()->ModelPackage_GetVariantNames(package, component, &names, &count);
  return *status ? NULL : copy_texts(names, count, status);
}

const char* package_variant_provider(const OrtModelPackageContext* package, const char* component, const char* variant,
                                     OrtStatus** status) {
  const char* provider = NULL;
  *status = packages()->ModelPackage_GetVariantEpName(package, component, variant, &provider);
  return provider;
}

const char* package_path(const OrtModelPackageContext* package, const char* folder, const char* reference,
                         int must_exist, OrtStatus** status) {
  const char* path = NULL;
  *status = packages()->ModelPackage_ResolveStringRef(package, folder, reference, must_exist, &path);
  return path;
}

OrtModelPackageComponentContext* select_component(const OrtModelPackageContext* package, const char* component,
                                                  const OrtModelPackageOptions* package_options, OrtStatus** status) {
  OrtModelPackageComponentContext* selected = NULL;
  *status = packages()->SelectComponent(package, component, package_options, &selected);
  return selected;
}

const char* selected_variant(const OrtModelPackageComponentContext* component, OrtStatus** status) {
  const char* name = NULL;
  *status = packages()->ModelPackageComponent_GetSelectedVariantName(component, &name);
  return name;
}

const char* selected_folder(const OrtModelPackageComponentContext* component, OrtStatus** status) {
  const ORTCHAR_T* folder = NULL;
  *status = packages()->ModelPackageComponent_GetSelectedVariantFolderPath(component, &folder);
  return folder;
}

OrtSession* create_component_session(const OrtEnv* environment, const OrtModelPackageComponentContext* component,
                                     const OrtSessionOptions* options, OrtStatus** status) {
  OrtSession* session = NULL;
  *status = packages()->CreateSession(environment, component, options, &session);
  return session;
}
