// Executes tile instructions that this processor lacks: each raises SIGILL, is decoded from memory and done in
// software.
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "amx_emulator/tile_unit.h"

namespace ortolan::tests {
namespace {

thread_local TileUnit tiles;

constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

int64_t value(const ucontext_t& context, int number) { return context.uc_mcontext.gregs[kRegisters[number]]; }

// A VEX-coded instruction of map 0F38 with its operands.
struct Instruction {
  int prefix, opcode;  // prefix: 0 none, 1 66, 2 F3, 3 F2
  int reg, rm, vvvv;
  bool memory;
  int64_t address, stride;  // where `memory`
  int length;
};

// The memory operand that starts at `modrm`; returns the bytes it takes. `rest` follows the operand.
int read_operand(const ucontext_t& context, const uint8_t* modrm, bool x, bool b, Instruction& op) {
  const int mod = modrm[0] >> 6, rm = modrm[0] & 7;
  int length = 1, base = rm;
  op.stride = 0;
  if (rm == 4) {
    const uint8_t sib = modrm[length++];
    const int index = ((sib >> 3) & 7) | (x ? 8 : 0);
    base = sib & 7;
    if (index != 4) op.stride = value(context, index) << (sib >> 6);
  }
  int32_t displacement = 0;
  const bool no_base = mod == 0 && base == 5;
  if (mod == 1) {
    displacement = static_cast<int8_t>(modrm[length++]);
  } else if (mod == 2 || no_base) {
    std::memcpy(&displacement, modrm + length, 4);
    length += 4;
  }
  op.address = displacement;
  if (!no_base) op.address += value(context, base | (b ? 8 : 0));
  if (no_base && rm == 5) op.address += reinterpret_cast<int64_t>(modrm + length);
  return length;
}

bool decode(const ucontext_t& context, Instruction& op) {
  const auto* code = reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) return false;  // W0, 128 bits
  op.prefix = code[2] & 3;
  op.vvvv = (~code[2] >> 3) & 15;
  op.opcode = code[3];
  op.reg = (code[4] >> 3) & 7;
  op.rm = code[4] & 7;
  op.memory = (code[4] >> 6) != 3;
  op.length = 5;
  if (op.memory) op.length = 4 + read_operand(context, code + 4, (code[1] & 0x40) == 0, (code[1] & 0x20) == 0, op);
  return true;
}

bool execute_configuration(const Instruction& op) {
  if (op.memory && op.prefix == 0) {
    tiles.configure(reinterpret_cast<const void*>(op.address));
  } else if (op.memory && op.prefix == 1) {
    tiles.store_configuration(reinterpret_cast<void*>(op.address));
  } else if (!op.memory && op.prefix == 0) {
    tiles.release();
  } else if (!op.memory && op.prefix == 3) {
    tiles.zero(op.reg);
  } else {
    return false;
  }
  return true;
}

bool execute_move(const Instruction& op) {
  if (!op.memory || op.prefix == 0) return false;
  // A load's index is a number of bytes from row to row.
  if (op.prefix == 2) {
    tiles.store(op.reg, reinterpret_cast<char*>(op.address), op.stride);
  } else {
    tiles.load(op.reg, reinterpret_cast<const char*>(op.address), op.stride);
  }
  return true;
}

bool execute(const Instruction& op) {
  constexpr ByteSigns kSigns[] = {ByteSigns::kUU, ByteSigns::kUS, ByteSigns::kSU, ByteSigns::kSS};
  switch (op.opcode) {
    case 0x49:
      return execute_configuration(op);
    case 0x4b:
      return execute_move(op);
    case 0x5c:
      if (op.memory || op.prefix != 2) return false;
      tiles.multiply_bf16(op.reg, op.rm, op.vvvv);
      return true;
    case 0x5e:
      if (op.memory) return false;
      tiles.multiply_bytes(kSigns[op.prefix], op.reg, op.rm, op.vvvv);
      return true;
    default:
      return false;
  }
}

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

[[noreturn]] void refuse(const char* why) {
  say("tile emulator: ");
  say(why);
  say("\n");
  std::abort();
}

struct sigaction g_before;

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((g_before.sa_flags & SA_SIGINFO) != 0) return g_before.sa_sigaction(signal, info, context);
  refuse("an illegal instruction that is none of tiles");
}

void on_illegal_instruction(int signal, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  Instruction op;
  try {
    if (!decode(context, op) || !execute(op)) return pass_on(signal, info, raw);
  } catch (const TileFault& fault) {
    refuse(fault.what());
  }
  context.uc_mcontext.gregs[REG_RIP] += op.length;
}

bool install() {
  if (!__builtin_cpu_supports("avx512bf16")) return false;
  struct sigaction action = {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return sigaction(SIGILL, &action, &g_before) == 0;
}

}  // namespace
}  // namespace ortolan::tests

// The library's detection of the processor asks this where it finds no tiles.
extern "C" __attribute__((visibility("default"))) bool ortolan_emulates_tiles() noexcept {
  static const bool installed = ortolan::tests::install();
  return installed;
}
