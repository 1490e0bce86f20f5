// The faults, by the struct that they are in. A name ending in '?' may go unnoticed: what it breaks is optional. One
// ending in '=' must: everything works, as far as it needs no later release than 1.23.
#pragma once

#include "stubs.h"

namespace ortolan::faulty {

constexpr Fault<OrtEpFactory> kFactoryFaults[] = {
    {"Factory.GetName:null", do_nothing<&OrtEpFactory::GetName>},
    {"Factory.GetName:missing", leave_out<&OrtEpFactory::GetName>},
    {"Factory.GetVendor:null?", do_nothing<&OrtEpFactory::GetVendor>},
    {"Factory.GetVendor:missing?", leave_out<&OrtEpFactory::GetVendor>},
    {"Factory.GetVendorId:missing?", leave_out<&OrtEpFactory::GetVendorId>},
    {"Factory.GetVersion:null?", do_nothing<&OrtEpFactory::GetVersion>},
    {"Factory.GetVersion:missing?", leave_out<&OrtEpFactory::GetVersion>},
    {"Factory.GetSupportedDevices:status", give_status<&OrtEpFactory::GetSupportedDevices>},
    {"Factory.GetSupportedDevices:nothing?", do_nothing<&OrtEpFactory::GetSupportedDevices>},
    {"Factory.GetSupportedDevices:missing", leave_out<&OrtEpFactory::GetSupportedDevices>},
    {"Factory.CreateEp:status", give_status<&OrtEpFactory::CreateEp>},
    {"Factory.CreateEp:nothing", do_nothing<&OrtEpFactory::CreateEp>},
    {"Factory.CreateEp:null", give_null<&OrtEpFactory::CreateEp>},
    {"Factory.CreateEp:missing", leave_out<&OrtEpFactory::CreateEp>},
    {"Factory.CreateAllocator:status", give_status<&OrtEpFactory::CreateAllocator>},
    {"Factory.CreateAllocator:null?", give_null<&OrtEpFactory::CreateAllocator>},
    {"Factory.CreateAllocator:missing?", leave_out<&OrtEpFactory::CreateAllocator>},
    {"Factory.CreateDataTransfer:status", give_status<&OrtEpFactory::CreateDataTransfer>},
    {"Factory.CreateDataTransfer:null", give_null<&OrtEpFactory::CreateDataTransfer>},
    {"Factory.CreateDataTransfer:missing", leave_out<&OrtEpFactory::CreateDataTransfer>},
    {"Factory.IsStreamAware:missing?", leave_out<&OrtEpFactory::IsStreamAware>},
    {"Factory.IsStreamAware:false?", do_nothing<&OrtEpFactory::IsStreamAware>},
    {"Factory.CreateSyncStreamForDevice:status", give_status<&OrtEpFactory::CreateSyncStreamForDevice>},
    {"Factory.CreateSyncStreamForDevice:null", give_null<&OrtEpFactory::CreateSyncStreamForDevice>},
    {"Factory.CreateSyncStreamForDevice:missing", leave_out<&OrtEpFactory::CreateSyncStreamForDevice>},
    {"Factory:version 0?", claim_version<OrtEpFactory, 0>},
    {"Factory:version 22=", claim_version<OrtEpFactory, 22>},
    {"Factory:version 23?", claim_version<OrtEpFactory, 23>},
    {"Factory:version 99?", claim_version<OrtEpFactory, 99>},
};

constexpr Fault<OrtEp> kProviderFaults[] = {
    {"Ep.GetName:null", do_nothing<&OrtEp::GetName>},
    {"Ep.GetName:missing", leave_out<&OrtEp::GetName>},
    {"Ep.GetCapability:status", give_status<&OrtEp::GetCapability>},
    {"Ep.GetCapability:nothing?", do_nothing<&OrtEp::GetCapability>},
    {"Ep.GetCapability:missing?", leave_out<&OrtEp::GetCapability>},
    {"Ep.Compile:status", give_status<&OrtEp::Compile>},
    {"Ep.Compile:nothing", do_nothing<&OrtEp::Compile>},
    {"Ep.Compile:missing", leave_out<&OrtEp::Compile>},
    {"Ep.OnRunStart:status", give_status<&OrtEp::OnRunStart>},
    {"Ep.OnRunStart:missing?", leave_out<&OrtEp::OnRunStart>},
    {"Ep.OnRunEnd:status", give_status<&OrtEp::OnRunEnd>},
    {"Ep.OnRunEnd:missing?", leave_out<&OrtEp::OnRunEnd>},
    {"Ep.SetDynamicOptions:status", give_status<&OrtEp::SetDynamicOptions>},
    {"Ep.SetDynamicOptions:missing?", leave_out<&OrtEp::SetDynamicOptions>},
    {"Ep.CreateAllocator:status", give_status<&OrtEp::CreateAllocator>},
    {"Ep.CreateAllocator:null?", give_null<&OrtEp::CreateAllocator>},
    {"Ep.CreateAllocator:missing?", leave_out<&OrtEp::CreateAllocator>},
    {"Ep.CreateSyncStreamForDevice:status", give_status<&OrtEp::CreateSyncStreamForDevice>},
    {"Ep.CreateSyncStreamForDevice:null?", give_null<&OrtEp::CreateSyncStreamForDevice>},
    {"Ep.CreateSyncStreamForDevice:missing?", leave_out<&OrtEp::CreateSyncStreamForDevice>},
    {"Ep.GetKernelRegistry:status", give_status<&OrtEp::GetKernelRegistry>},
    {"Ep.GetKernelRegistry:null?", give_null<&OrtEp::GetKernelRegistry>},
    {"Ep.GetKernelRegistry:missing?", leave_out<&OrtEp::GetKernelRegistry>},
    {"Ep.IsConcurrentRunSupported:status", give_status<&OrtEp::IsConcurrentRunSupported>},
    {"Ep.IsConcurrentRunSupported:missing?", leave_out<&OrtEp::IsConcurrentRunSupported>},
    {"Ep.Sync:status?", give_status<&OrtEp::Sync>},
    {"Ep.Sync:missing?", leave_out<&OrtEp::Sync>},
    {"Ep.CreateProfiler:status", give_status<&OrtEp::CreateProfiler>},
    {"Ep.CreateProfiler:null?", give_null<&OrtEp::CreateProfiler>},
    {"Ep.CreateProfiler:missing?", leave_out<&OrtEp::CreateProfiler>},
    {"Ep.OnSessionInitializationEnd:status", give_status<&OrtEp::OnSessionInitializationEnd>},
    {"Ep.GetDefaultMemoryDevice:status", give_status<&OrtEp::GetDefaultMemoryDevice>},
    {"Ep.GetDefaultMemoryDevice:null?", give_null<&OrtEp::GetDefaultMemoryDevice>},
    {"Ep.GetPreferredDataLayout:status", give_status<&OrtEp::GetPreferredDataLayout>},
    {"Ep.GetPreferredDataLayout:nothing?", do_nothing<&OrtEp::GetPreferredDataLayout>},
    {"Ep.GetAvailableResource:status", give_status<&OrtEp::GetAvailableResource>},
    {"Ep.GetAvailableResource:nothing?", do_nothing<&OrtEp::GetAvailableResource>},
    {"Ep:version 0?", claim_version<OrtEp, 0>},
    {"Ep:version 22=", claim_version<OrtEp, 22>},
    {"Ep:version 23?", claim_version<OrtEp, 23>},
    {"Ep:version 99?", claim_version<OrtEp, 99>},
};

constexpr Fault<OrtNodeComputeInfo> kComputeInfoFaults[] = {
    {"NodeComputeInfo.CreateState:status", give_status<&OrtNodeComputeInfo::CreateState>},
    {"NodeComputeInfo.CreateState:missing", leave_out<&OrtNodeComputeInfo::CreateState>},
    {"NodeComputeInfo.Compute:status", give_status<&OrtNodeComputeInfo::Compute>},
    {"NodeComputeInfo.Compute:nothing", do_nothing<&OrtNodeComputeInfo::Compute>},
    {"NodeComputeInfo.Compute:missing", leave_out<&OrtNodeComputeInfo::Compute>},
    {"NodeComputeInfo:version 0?", claim_version<OrtNodeComputeInfo, 0>},
    {"NodeComputeInfo:version 99?", claim_version<OrtNodeComputeInfo, 99>},
};

constexpr Fault<OrtKernelImpl> kKernelFaults[] = {
    {"Kernel.Compute:status", give_status<&OrtKernelImpl::Compute>},
    {"Kernel.Compute:nothing", do_nothing<&OrtKernelImpl::Compute>},
    {"Kernel.Compute:missing", leave_out<&OrtKernelImpl::Compute>},
    {"Kernel.PrePackWeight:status", give_status<&OrtKernelImpl::PrePackWeight>},
    {"Kernel.PrePackWeight:missing?", leave_out<&OrtKernelImpl::PrePackWeight>},
    {"Kernel:version 0?", claim_version<OrtKernelImpl, 0>},
    {"Kernel:version 99?", claim_version<OrtKernelImpl, 99>},
};

constexpr Fault<OrtAllocator> kAllocatorFaults[] = {
    {"Allocator.Alloc:null", do_nothing<&OrtAllocator::Alloc>},
    {"Allocator.Alloc:missing", leave_out<&OrtAllocator::Alloc>},
    {"Allocator.Info:null?", do_nothing<&OrtAllocator::Info>},
    {"Allocator.Info:missing?", leave_out<&OrtAllocator::Info>},
    {"Allocator.Reserve:missing?", leave_out<&OrtAllocator::Reserve>},
    {"Allocator.GetStats:status", give_status<&OrtAllocator::GetStats>},
    {"Allocator.GetStats:null?", give_null<&OrtAllocator::GetStats>},
    {"Allocator.GetStats:missing?", leave_out<&OrtAllocator::GetStats>},
    {"Allocator.AllocOnStream:null", do_nothing<&OrtAllocator::AllocOnStream>},
    {"Allocator.AllocOnStream:missing?", leave_out<&OrtAllocator::AllocOnStream>},
    {"Allocator:version 0?", claim_version<OrtAllocator, 0>},
    {"Allocator:version 99?", claim_version<OrtAllocator, 99>},
};

constexpr Fault<OrtDataTransferImpl> kTransferFaults[] = {
    {"DataTransfer.CanCopy:false", do_nothing<&OrtDataTransferImpl::CanCopy>},
    {"DataTransfer.CanCopy:missing", leave_out<&OrtDataTransferImpl::CanCopy>},
    {"DataTransfer.CopyTensors:status", give_status<&OrtDataTransferImpl::CopyTensors>},
    {"DataTransfer.CopyTensors:missing", leave_out<&OrtDataTransferImpl::CopyTensors>},
    {"DataTransfer:version 0?", claim_version<OrtDataTransferImpl, 0>},
    {"DataTransfer:version 99?", claim_version<OrtDataTransferImpl, 99>},
};

constexpr Fault<OrtSyncStreamImpl> kStreamFaults[] = {
    {"Stream.GetHandle:null?", do_nothing<&OrtSyncStreamImpl::GetHandle>},
    {"Stream.GetHandle:missing?", leave_out<&OrtSyncStreamImpl::GetHandle>},
    {"Stream.CreateNotification:status", give_status<&OrtSyncStreamImpl::CreateNotification>},
    {"Stream.CreateNotification:null?", give_null<&OrtSyncStreamImpl::CreateNotification>},
    {"Stream.CreateNotification:missing?", leave_out<&OrtSyncStreamImpl::CreateNotification>},
    {"Stream.Flush:status", give_status<&OrtSyncStreamImpl::Flush>},
    {"Stream.Flush:missing?", leave_out<&OrtSyncStreamImpl::Flush>},
    {"Stream.OnSessionRunEnd:status", give_status<&OrtSyncStreamImpl::OnSessionRunEnd>},
    {"Stream.OnSessionRunEnd:missing?", leave_out<&OrtSyncStreamImpl::OnSessionRunEnd>},
    {"Stream:version 0?", claim_version<OrtSyncStreamImpl, 0>},
    {"Stream:version 99?", claim_version<OrtSyncStreamImpl, 99>},
};

constexpr Fault<OrtSyncNotificationImpl> kNotificationFaults[] = {
    {"Notification.Activate:status", give_status<&OrtSyncNotificationImpl::Activate>},
    {"Notification.WaitOnHost:status", give_status<&OrtSyncNotificationImpl::WaitOnHost>},
    {"Notification.WaitOnDevice:status?", give_status<&OrtSyncNotificationImpl::WaitOnDevice>},
    {"Notification.Activate:missing", leave_out<&OrtSyncNotificationImpl::Activate>},
    {"Notification.WaitOnHost:missing", leave_out<&OrtSyncNotificationImpl::WaitOnHost>},
    {"Notification.WaitOnDevice:missing?", leave_out<&OrtSyncNotificationImpl::WaitOnDevice>},
    {"Notification:version 0?", claim_version<OrtSyncNotificationImpl, 0>},
    {"Notification:version 99?", claim_version<OrtSyncNotificationImpl, 99>},
};

constexpr Fault<OrtEpProfilerImpl> kProfilerFaults[] = {
    {"Profiler.StartProfiling:status", give_status<&OrtEpProfilerImpl::StartProfiling>},
    {"Profiler.StartProfiling:missing?", leave_out<&OrtEpProfilerImpl::StartProfiling>},
    {"Profiler.EndProfiling:status", give_status<&OrtEpProfilerImpl::EndProfiling>},
    {"Profiler.EndProfiling:missing?", leave_out<&OrtEpProfilerImpl::EndProfiling>},
    {"Profiler:version 0?", claim_version<OrtEpProfilerImpl, 0>},
    {"Profiler:version 99?", claim_version<OrtEpProfilerImpl, 99>},
};

/** Faults of the library itself; plugin.cc and short_structs.cc say what they do. */
constexpr const char* kLibraryFaults[] = {
    "Library:status",          "Library:no factories?", "Library:too many factories", "Library:null factory",
    "Library:release status?", "Devices:too many",      "Devices:null device",        "Kernel:create status",
    "Kernel:create null",      "Compile:null info",     "Claims:no connection",       "Claims:twice",
    "Claims:other graph?",     "Factory:short struct?", "Ep:short struct?",           "Refusal:null?",
    "Refusal:empty?",          "Refusal:no text?",
};

}  // namespace ortolan::faulty
