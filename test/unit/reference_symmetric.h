/*
 * reference_symmetric.h
 *	  Workloads over a core of one or two ordered attributes and others that are asked by
 *	  identity and total, with their optima, computed by independent programs in Python (NumPy):
 *	  to 10 digits, with gaps below 1e-9.
 */
#ifndef PE_TEST_REFERENCE_SYMMETRIC_H
#define PE_TEST_REFERENCE_SYMMETRIC_H

typedef struct pe_symmetric_reference
{
	int			core;			/* cells of attribute core */
	int			other;			/* of attribute other; 0: there is none */
	const char *sizes;			/* of a0, a1, .. */
	const char *workload;
	double		optimum;
} pe_symmetric_reference;

static const pe_symmetric_reference pe_symmetric_references[] = {
	{22, 0, "6 6 2 4 7", "3 * all_range(core) * identity(a0) + 3 * all_range(core) + "
		"identity(a0) * identity(a1) * identity(a3) * identity(a4) + "
		"3 * identity(a0) * identity(a1) * identity(a2) * identity(a3)", 126248.3591},
	{37, 0, "2 4", "all_range(core) * identity(a0) + identity(a0)", 6061.146392},
	{15, 0, "5", "2 * all_range(core) + 3 * all_range(core) + identity(a0) + prefix(core)", 4906.16229},
	{39, 0, "7 2 5", "3 * prefix(core) + 3 * all_range(core) * identity(a2) + 3 * identity(a1) + "
		"identity(core) * identity(a0) * identity(a2) + 3 * all_range(core)", 296297.3693},
	{19, 0, "8 2 5 2", "3 * all_range(core) * identity(a0) + 2 * all_range(core) * identity(a0) * identity(a3) + "
		"identity(core) * identity(a0) * identity(a2) + prefix(core) * identity(a1) * identity(a3) + 3 * identity(a0)", 132836.7369},
	{15, 0, "3 4", "2 * identity(core) * identity(a0) * identity(a1)", 720},
	{36, 0, "8 6 6 4 5", "identity(core) * identity(a1)", 216},
	{35, 0, "2 6", "2 * prefix(core) + prefix(core) * identity(a0) * identity(a1) + 2 * prefix(core) + identity(core) + "
		"3 * identity(core)", 5900.499464},
	{21, 0, "7 5 3 7", "3 * identity(core) * identity(a1) * identity(a3) + 3 * identity(a0) * identity(a2) + "
		"3 * all_range(core) * identity(a0) + 3 * prefix(core) * identity(a3)", 126122.9461},
	{10, 0, "2 4 7 5 2", "3 * prefix(core) * identity(a0) * identity(a3) * identity(a4) + "
		"all_range(core) * identity(a2) * identity(a3) * identity(a4)", 22789.64549},
	{15, 0, "6 3 5 4", "3 * identity(core) * identity(a1) * identity(a3) + 3 * prefix(core) * identity(a2) + "
		"3 * all_range(core) * identity(a2) + 2 * prefix(core) * identity(a2) + identity(a0)", 31381.04932},
	{28, 0, "6 6 7", "3 * identity(core) * identity(a2) + prefix(core) * identity(a0) * identity(a1) + "
		"identity(core) * identity(a2) + identity(core) * identity(a1) * identity(a2)", 16255.77421},
	{13, 0, "7 4 5", "2 * identity(core) * identity(a1) * identity(a2) + 3 * identity(core) * identity(a2) + "
		"identity(core) * identity(a1) * identity(a2) + 2 * identity(a1) + 2 * identity(core) * identity(a0)", 5349.729754},
	{22, 0, "2", "identity(core) + 2 * identity(core) * identity(a0) + all_range(core) * identity(a0)", 2103.064545},
	{15, 0, "7 6", "2 * prefix(core)", 167.5093177},
	{26, 0, "5 5 4 3 3", "3 * all_range(core) * identity(a1) * identity(a3) * identity(a4) + 2 * prefix(core) * identity(a3) + "
		"2 * prefix(core) * identity(a2) * identity(a4) + prefix(core) * identity(a0) * identity(a1) * identity(a3) + "
		"2 * all_range(core) * identity(a0) * identity(a1)", 1316418.131},
	{17, 0, "8 6 2", "3 * identity(core) * identity(a1) + 3 * identity(a1) + 2 * identity(core) * identity(a0) * identity(a1) + "
		"3 * all_range(core) * identity(a0) * identity(a1) * identity(a2)", 442503.2383},
	{6, 0, "4", "identity(core)", 6},
	{6, 0, "4 7", "2 * total + 3 * identity(a1) + 3 * all_range(core)", 700.6077684},
	{22, 0, "4 8 6", "3 * identity(core) * identity(a2)", 1188},
	{38, 0, "5 2 7 3 2", "2 * prefix(core) * identity(a0) * identity(a1) * identity(a3) + prefix(core) * identity(a3) * identity(a4) + "
		"2 * prefix(core) * identity(a2) * identity(a3) * identity(a4)", 85359.17161},
	{27, 0, "4 3 5", "all_range(core) * identity(a0) + prefix(core) * identity(a0) * identity(a1) * identity(a2) + "
		"3 * identity(core) * identity(a0) + 2 * all_range(core) * identity(a0) * identity(a1)", 125845.6509},
	{23, 0, "8 2 2", "3 * prefix(core) * identity(a0) * identity(a2)", 10668.38378},
	{8, 0, "7 8", "2 * total + prefix(core) * identity(a0) + identity(a1) + 2 * identity(a0) * identity(a1)", 747.7774887},
	{30, 0, "5", "identity(core) + 3 * total", 68.89335009},
	{38, 0, "4", "2 * total + 3 * prefix(core) + 3 * prefix(core) * identity(a0) + identity(a0)", 8913.543422},
	{20, 0, "3 7 4", "2 * identity(core) * identity(a1) + 2 * all_range(core) * identity(a1) * identity(a2) + "
		"2 * prefix(core) * identity(a2)", 88498.56656},
	{24, 0, "4 4 5", "3 * prefix(core) * identity(a0) * identity(a1) * identity(a2) + "
		"2 * prefix(core) * identity(a1) * identity(a2) + 2 * all_range(core) * identity(a1) + "
		"identity(core) * identity(a0) * identity(a1) * identity(a2) + identity(core) * identity(a1) * identity(a2)", 158341.6813},
	{33, 0, "6", "prefix(core) * identity(a0) + identity(core) * identity(a0) + 3 * all_range(core) * identity(a0)", 125785.721},
	{37, 0, "6 5 5", "3 * all_range(core) + 2 * identity(a1) + 3 * identity(core) * identity(a1) * identity(a2)", 65126.76616},
	{8, 0, "6 4 4", "3 * identity(core) * identity(a0) * identity(a1)", 1728},
	{35, 0, "5 6 2 4", "3 * prefix(core)", 1159.650013},
	{8, 0, "7 5 2 7", "2 * identity(a0) * identity(a1) * identity(a2) + 2 * identity(core) * identity(a2) + "
		"2 * identity(core) * identity(a0) * identity(a1) * identity(a2) * identity(a3)", 21626.83396},
	{37, 0, "4 2 8 6", "identity(a2) * identity(a3) + prefix(core) * identity(a2) + 2 * prefix(core) * identity(a0)", 6854.123199},
	{35, 0, "5 4 2", "3 * identity(a0) * identity(a1) + total + 2 * prefix(core) * identity(a2) + all_range(core) * identity(a0)", 21468.15791},
	{22, 0, "4", "3 * total + 2 * total + 2 * total + all_range(core)", 961.9941598},
	{25, 0, "3 3 5", "2 * all_range(core) * identity(a1) + identity(core) * identity(a0) * identity(a1) * identity(a2) + "
		"3 * identity(core) * identity(a1) + prefix(core) + 2 * all_range(core)", 38055.58048},
	{15, 0, "2 8 7", "2 * all_range(core) * identity(a0) + 3 * identity(core) * identity(a0) * identity(a2) + "
		"3 * prefix(core) * identity(a0) + prefix(core) + 3 * identity(a2)", 10984.93969},
	{20, 0, "5 7 2 2", "3 * identity(core)", 180},
	{16, 0, "7 8 5 5", "3 * all_range(core) * identity(a3) + all_range(core) * identity(a0) + "
		"3 * all_range(core) * identity(a0) * identity(a1) + 3 * identity(core) * identity(a1)", 378865.7279},
	{8, 0, "8 7", "2 * total + identity(a1)", 18.51742538},
	{7, 0, "4", "3 * identity(core) * identity(a0)", 252},
	{19, 0, "5 7 3", "2 * identity(core) * identity(a0) + prefix(core)", 604.98571},
	{35, 0, "2 5 2 3", "prefix(core) * identity(a3) + total + 2 * prefix(core) * identity(a3)", 1945.526977},
	{30, 0, "8 2 8", "identity(core) * identity(a1) + 2 * identity(core) * identity(a0)", 1329.411255},
	{16, 0, "5 2", "3 * all_range(core) + 2 * all_range(core) * identity(a0) * identity(a1)", 31689.21592},
	{32, 0, "3", "identity(core) + 3 * all_range(core) * identity(a0) + all_range(core) + 2 * identity(a0)", 64230.28608},
	{5, 0, "7 2 8", "prefix(core) * identity(a0) + 3 * identity(core) * identity(a0) * identity(a1) * identity(a2)", 5773.825783},
	{12, 0, "5 8 7 8", "total + 3 * identity(a0) * identity(a2) * identity(a3) + 2 * identity(core) * identity(a1) * identity(a3)", 11232.81157},
	{8, 0, "3 8 3", "2 * identity(a2) + 3 * identity(core) + 2 * identity(core) * identity(a0) + 3 * identity(a1) + "
		"prefix(core) * identity(a2)", 912.4030429},
	{33, 0, "6 2 2 7", "3 * prefix(core) * identity(a1) * identity(a2) + identity(a1) * identity(a2) * identity(a3) + "
		"3 * prefix(core) * identity(a0) * identity(a2) + 2 * identity(a0) * identity(a3)", 32454.62698},
	{39, 0, "4 2 4", "prefix(core) + 3 * identity(a2) + 2 * prefix(core) * identity(a2) + 2 * total + 2 * total", 3141.363509},
	{6, 0, "7 7 4", "3 * identity(core) * identity(a0) * identity(a1) * identity(a2) + 3 * prefix(core) * identity(a2) + "
		"prefix(core) * identity(a0) * identity(a1) * identity(a2)", 18735.8386},
	{26, 0, "8 2 6 2", "3 * identity(a0) * identity(a3) + 3 * all_range(core) * identity(a0) * identity(a1) * identity(a2) + "
		"all_range(core) * identity(a0) * identity(a2) + prefix(core) * identity(a1) * identity(a3)", 1293273.716},
	{19, 0, "2 5 7 5 5", "3 * all_range(core) * identity(a0) * identity(a4)", 55928.0644},
	{5, 0, "4", "identity(a0) + 2 * total + prefix(core) * identity(a0) + 3 * total + all_range(core) * identity(a0)", 227.6816061},
	{37, 0, "5 2 6 3", "3 * all_range(core) * identity(a1) * identity(a2) + 2 * prefix(core) * identity(a0) * identity(a3) + "
		"2 * prefix(core) * identity(a3)", 453200.77},
	{6, 0, "4", "3 * prefix(core) * identity(a0) + 3 * identity(a0)", 513.9963584},
	{34, 0, "6 3 2 2 4", "2 * all_range(core) * identity(a0) * identity(a2) * identity(a4) + 3 * identity(a0) * identity(a4)", 477877.808},
	{15, 0, "5 8 3 4", "3 * identity(a0) + 3 * identity(a0) * identity(a2) + 3 * identity(a3)", 424.3239883},
	{20, 0, "2", "all_range(core) * identity(a0) + all_range(core)", 2619.831713},
	{100, 0, "2", "all_range(core) * identity(a0) + all_range(core)", 117086.0133},
	{100, 0, "2 5", "all_range(core) * identity(a0) + all_range(core) * identity(a1) + identity(a0) * identity(a1)", 349971.6123},
	{100, 0, "2 5", "prefix(core) * identity(a0) * identity(a1) + all_range(core) + identity(core) * identity(a0) + total", 59574.97817},
	{10, 0, "10 10 10 10 10 10 10 10 10", "all_range(core) * identity(a0) + all_range(core) * identity(a1) + all_range(core) * identity(a2) + "
		"all_range(core) * identity(a3) + all_range(core) * identity(a4) + all_range(core) * identity(a5) + "
		"all_range(core) * identity(a6) + all_range(core) * identity(a7) + all_range(core) * identity(a8) + "
		"identity(a0) * identity(a1) + identity(a0) * identity(a2) + identity(a0) * identity(a3) + "
		"identity(a0) * identity(a4) + identity(a0) * identity(a5) + identity(a0) * identity(a6) + "
		"identity(a0) * identity(a7) + identity(a0) * identity(a8) + identity(a1) * identity(a2) + "
		"identity(a1) * identity(a3) + identity(a1) * identity(a4) + identity(a1) * identity(a5) + "
		"identity(a1) * identity(a6) + identity(a1) * identity(a7) + identity(a1) * identity(a8) + "
		"identity(a2) * identity(a3) + identity(a2) * identity(a4) + identity(a2) * identity(a5) + "
		"identity(a2) * identity(a6) + identity(a2) * identity(a7) + identity(a2) * identity(a8) + "
		"identity(a3) * identity(a4) + identity(a3) * identity(a5) + identity(a3) * identity(a6) + "
		"identity(a3) * identity(a7) + identity(a3) * identity(a8) + identity(a4) * identity(a5) + "
		"identity(a4) * identity(a6) + identity(a4) * identity(a7) + identity(a4) * identity(a8) + "
		"identity(a5) * identity(a6) + identity(a5) * identity(a7) + identity(a5) * identity(a8) + "
		"identity(a6) * identity(a7) + identity(a6) * identity(a8) + identity(a7) * identity(a8)", 365470.8432},
	{85, 0, "9 16 7 15 6 5 2 2", "all_range(core) * identity(a0) + all_range(core) * identity(a1) + all_range(core) * identity(a2) + "
		"all_range(core) * identity(a3) + all_range(core) * identity(a4) + all_range(core) * identity(a5) + "
		"all_range(core) * identity(a6) + all_range(core) * identity(a7) + identity(a0) * identity(a1) + "
		"identity(a0) * identity(a2) + identity(a0) * identity(a3) + identity(a0) * identity(a4) + "
		"identity(a0) * identity(a5) + identity(a0) * identity(a6) + identity(a0) * identity(a7) + "
		"identity(a1) * identity(a2) + identity(a1) * identity(a3) + identity(a1) * identity(a4) + "
		"identity(a1) * identity(a5) + identity(a1) * identity(a6) + identity(a1) * identity(a7) + "
		"identity(a2) * identity(a3) + identity(a2) * identity(a4) + identity(a2) * identity(a5) + "
		"identity(a2) * identity(a6) + identity(a2) * identity(a7) + identity(a3) * identity(a4) + "
		"identity(a3) * identity(a5) + identity(a3) * identity(a6) + identity(a3) * identity(a7) + "
		"identity(a4) * identity(a5) + identity(a4) * identity(a6) + identity(a4) * identity(a7) + "
		"identity(a5) * identity(a6) + identity(a5) * identity(a7) + identity(a6) * identity(a7)", 8377232.877},
	{16, 12, "2 5", "all_range(core) * all_range(other) + all_range(core) * identity(a0) + prefix(other) * identity(a1) + "
		"identity(a0) * identity(a1)", 102857.0667},
	{85, 0, "2 5 2", "all_range(core) * identity(a0) + all_range(core) * identity(a1) + identity(a0) * identity(a2)", 239285.053},
};

#endif
