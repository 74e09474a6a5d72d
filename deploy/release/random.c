/* A library that Wine 8 lacks: the programs for Windows call its one function. */
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T bytes)
{ return SystemFunction036(to, (ULONG)bytes); }
