/* Model packages: OrtModelPackageApi under the rules of calls.h. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
void destroy_OrtModelPackageContext(PyObject* handle);
void destroy_OrtModelPackageOptions(PyObject* handle);
void destroy_OrtModelPackageComponentContext(PyObject* handle);
#endif

OrtModelPackageContext* open_package(const char* folder, OrtStatus** status);
OrtModelPackageOptions* create_package_options(const OrtEnv* environment, const OrtSessionOptions* session_options,
                                               OrtStatus** status);
int64_t package_schema_version(const OrtModelPackageContext* package, OrtStatus** status);
TextList* package_components(const OrtModelPackageContext* package, OrtStatus** status);
TextList* package_variants(const OrtModelPackageContext* package, const char* component, OrtStatus** status);
/** NULL where the variant names no provider. */
const char* package_variant_provider(const OrtModelPackageContext* package, const char* component, const char* variant,
                                     OrtStatus** status);
/** `folder` may be NULL: the package's. */
const char* package_path(const OrtModelPackageContext* package, const char* folder, const char* reference,
                         int must_exist, OrtStatus** status);
OrtModelPackageComponentContext* select_component(const OrtModelPackageContext* package, const char* component,
                                                  const OrtModelPackageOptions* package_options, OrtStatus** status);
const char* selected_variant(const OrtModelPackageComponentContext* component, OrtStatus** status);
const char* selected_folder(const OrtModelPackageComponentContext* component, OrtStatus** status);
/** `options` may be NULL: the package's. */
OrtSession* create_component_session(const OrtEnv* environment, const OrtModelPackageComponentContext* component,
                                     const OrtSessionOptions* options, OrtStatus** status);
